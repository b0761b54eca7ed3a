"""From the syntax tree to something that runs: every node becomes a function of the run and of the dot.

What can be known before any value is seen is decided here once: which function is called, with how many arguments,
which template. An action that can only fail is kept, as in Go, and fails when it is reached; it is also listed in
`problems`, so that a caller who wants a full check can refuse the template.
"""

from collections.abc import Callable, Iterable
from enum import Enum, auto
from typing import Any

from shared.languages.gotemplate.compiling.calls import Calls, Evaluate
from shared.languages.gotemplate.compiling.plain import plain_pieces
from shared.languages.gotemplate.functions.formatting import NO_VALUE, write_value
from shared.languages.gotemplate.parsing import mistakes, syntax
from shared.languages.gotemplate.runtime.evaluation import Evaluation
from shared.languages.gotemplate.runtime.failure import Failure
from shared.languages.gotemplate.runtime.values import Int, Kind, describe, kind_of, sorted_items, truth


class Jump(Enum):
    BREAK = auto()
    CONTINUE = auto()


Execute = Callable[[Evaluation, Any], Jump | None]


class Compiler(Calls):
    """Statements; `Calls` compiles what stands inside an action."""

    def __init__(self, tree: syntax.Tree) -> None:
        super().__init__(tree.source)
        self._definitions = tree.definitions
        self._bodies: dict[str, Execute] = {}
        for name, definition in tree.definitions.items():
            self._bodies[name] = self._body(definition.body)
        self.main = self._entry(syntax.MAIN, 0)
        self.plain = plain_pieces(tree.definitions[syntax.MAIN].body)

    def _entry(self, name: str, levels: int) -> Execute:
        """A template that starts with fresh variables."""
        bodies, slots = self._bodies, self._definitions[name].slots

        def enter(run: Evaluation, argument: Any) -> None:
            outer, depth = run.variables, run.depth
            run.descend(levels)
            run.variables = [argument, *[None] * (slots - 1)]
            bodies[name](run, argument)
            run.variables, run.depth = outer, depth

        return enter

    def _body(self, body: syntax.Body) -> Execute:
        steps = tuple(self._step(step) for step in body.steps)
        cost = len(steps) + 1

        def execute(run: Evaluation, dot: Any) -> Jump | None:
            run.spend(cost)
            for step in steps:
                jump = step(run, dot)
                if jump is not None:
                    return jump
            return None

        return execute

    def _nested_body(self, body: syntax.Body | None) -> Execute:
        if body is None:
            return _nothing
        with self.deeper():
            return self._body(body)

    def _step(self, step: syntax.Step) -> Execute:
        match step:
            case syntax.Text():
                return _writing(step.text)
            case syntax.Output():
                return self._output(step)
            case syntax.If() | syntax.With():
                return self._choice(step)
            case syntax.Range():
                return self._range(step)
            case syntax.Invoke():
                return self._invoke(step)
            case syntax.Break():
                return lambda *_: Jump.BREAK
        return lambda *_: Jump.CONTINUE

    def _output(self, node: syntax.Output) -> Execute:
        evaluate = self.pipeline(node.pipeline)
        if node.pipeline.targets:
            return _silently(evaluate)

        def output(run: Evaluation, dot: Any) -> None:
            value = evaluate(run, dot)
            try:
                if type(value) is str:
                    run.output.write(value)
                elif value is None:
                    run.output.write(NO_VALUE)
                else:
                    write_value(run.output, value)
            except Failure as failure:
                raise self.blame(node, failure) from None

        return output

    def _choice(self, node: syntax.If | syntax.With) -> Execute:
        branches = tuple((self.pipeline(b.condition), self._nested_body(b.body)) for b in node.branches)
        otherwise = self._nested_body(node.otherwise)
        rebinds = isinstance(node, syntax.With)

        def choose(run: Evaluation, dot: Any) -> Jump | None:
            for condition, body in branches:
                value = condition(run, dot)
                if truth(value):
                    return body(run, value if rebinds else dot)
            return otherwise(run, dot)

        return choose

    def _range(self, node: syntax.Range) -> Execute:
        """A break leaves this loop, also from its else part, as in Go; a continue there belongs to the loop around."""
        evaluate = self.pipeline(node.pipeline)
        body, otherwise = self._nested_body(node.body), self._nested_body(node.otherwise)
        slots = [target.slot for target in node.pipeline.targets]
        index_slot, element_slot = slots[0] if len(slots) > 1 else None, slots[-1] if slots else None

        def loop(run: Evaluation, dot: Any) -> Jump | None:
            value = evaluate(run, dot)
            variables = run.variables
            empty = True
            try:
                for index, element in _elements(run, value, pairs=index_slot is not None):
                    empty = False
                    if element_slot is not None:
                        variables[element_slot] = element
                    if index_slot is not None:
                        variables[index_slot] = index
                    if body(run, element) is Jump.BREAK:
                        break
            except Failure as failure:
                raise self.blame(node, failure) from None
            jump = otherwise(run, dot) if empty else None
            return None if jump is Jump.BREAK else jump

        return loop

    def _invoke(self, node: syntax.Invoke) -> Execute:
        argument = self.pipeline(node.argument) if node.argument else _nothing
        if node.name not in self._definitions:
            near = mistakes.nearest(node.name, self._definitions.keys() - {syntax.MAIN})
            hint = f"did you mean {near!r}?" if near else 'define it with {{ define "name" }} … {{ end }}'
            return self.doomed(node, f"template {node.name!r} is not defined", hint)
        enter = self._entry(node.name, self.level + 1)

        def invoke(run: Evaluation, dot: Any) -> None:
            value = argument(run, dot)
            try:
                enter(run, value)
            except Failure as failure:
                raise self.blame(node, failure) from None

        return invoke


def _writing(text: str) -> Execute:
    def write(run: Evaluation, _: Any) -> None:
        run.output.write(text)

    return write


def _silently(evaluate: Evaluate) -> Execute:
    def assign(run: Evaluation, dot: Any) -> None:
        evaluate(run, dot)

    return assign


def _nothing(_: Evaluation, __: Any) -> None:
    return None


def _elements(run: Evaluation, value: Any, *, pairs: bool) -> Iterable[tuple[Any, Any]]:
    match kind_of(value):
        case Kind.LIST:
            return ((Int(i), element) for i, element in enumerate(value))
        case Kind.MAP:
            run.spend(len(value))
            return sorted_items(value)
        case Kind.INT | Kind.UINT if pairs:
            raise Failure("a range over a number has only one variable", value)
        case Kind.INT | Kind.UINT:
            type_ = type(value)
            return ((None, type_(i)) for i in range(value))
        case Kind.NIL:
            return ()
    raise Failure(f"range cannot go through {describe(value)}", value)
