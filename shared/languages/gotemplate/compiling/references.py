"""Which variables a template reads, found by following the dot and the variables through the syntax tree.

`{{ range .xs }}{{ .id }}{{ end }}` reads `xs` and nothing else: inside, the dot is an element of `xs`. A value is
followed as the set of paths it may have come from; the empty path is the whole of the variables, `*` is any element
of a list or map. What functions make of values is not followed, except where they hand a value on unchanged (`and`,
`or`, `default`, `index`, `slice`).
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from shared.languages.gotemplate.limits import MAX_DEPTH
from shared.languages.gotemplate.parsing import syntax

Path = tuple[str, ...]
Origins = frozenset[Path]
"""Where a value may have come from."""

_ROOT: Path = ()
ELEMENT = "*"
_NOWHERE: Origins = frozenset()
_HANDING_ON = frozenset({"and", "or", "default"})
_LONGEST_PATH = 6
_MOST_ORIGINS = 16
_MOST_STEPS = 50_000
"""A tangle of templates beyond this is not followed to its end; what it lacks is found when it is rendered."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A path that is read, and where in the source its last names stand; `whole` if all of them stand there."""

    path: Path
    offset: int
    whole: bool


def references(tree: syntax.Tree) -> tuple[Reference, ...]:
    """All reads of variables in the order of the source."""
    tracer = _Tracer(tree)
    tracer.template(syntax.MAIN, frozenset({_ROOT}))
    return tuple(sorted(tracer.found, key=lambda reference: (reference.offset, reference.path)))


class _Tracer:
    def __init__(self, tree: syntax.Tree) -> None:
        self.found: set[Reference] = set()
        self._definitions = tree.definitions
        self._called: set[tuple[str, Origins]] = set()
        self._variables: list[Origins] = []
        self._repeating = False
        self._steps = 0
        self._level = 0

    def template(self, name: str, dot: Origins) -> None:
        if (name, dot) in self._called or name not in self._definitions:
            return
        self._called.add((name, dot))
        definition = self._definitions[name]
        outer = self._variables
        self._variables = [dot, *[_NOWHERE] * (definition.slots - 1)]
        self._body(definition.body, dot)
        self._variables = outer

    def _body(self, body: syntax.Body | None, dot: Origins) -> None:
        self._level += 1
        for step in body.steps if body else ():
            self._steps += 1
            if self._steps > _MOST_STEPS or self._level > MAX_DEPTH:
                break
            self._step(step, dot)
        self._level -= 1

    def _step(self, step: syntax.Step, dot: Origins) -> None:
        match step:
            case syntax.Output():
                self._pipeline(step.pipeline, dot)
            case syntax.If() | syntax.With():
                self._choice(step, dot)
            case syntax.Range():
                self._range(step, dot)
            case syntax.Invoke():
                argument = self._pipeline(step.argument, dot) if step.argument else _NOWHERE
                self.template(step.name, argument)

    def _choice(self, node: syntax.If | syntax.With, dot: Origins) -> None:
        ends: list[list[Origins]] = []
        for branch in node.branches:
            value = self._pipeline(branch.condition, dot)
            with self._aside(ends):
                self._body(branch.body, value if isinstance(node, syntax.With) else dot)
        with self._aside(ends):
            self._body(node.otherwise, dot)
        self._variables = [_joined(values) for values in zip(*ends, strict=True)]

    @contextmanager
    def _aside(self, ends: list[list[Origins]]) -> Iterator[None]:
        """One of several ways to go: all start from the same variables."""
        before = list(self._variables)
        yield
        ends.append(self._variables)
        self._variables = before

    def _range(self, node: syntax.Range, dot: Origins) -> None:
        element = _deeper(self._pipeline(node.pipeline, dot), (ELEMENT,))
        before = list(self._variables)
        self._turn(node, element)
        self._join(before)
        if not self._repeating:
            # A second turn sees what the first one left behind; loops inside of it have had their second turn.
            self._repeating = True
            self._turn(node, element)
            self._repeating = False
            self._join(before)
        self._body(node.otherwise, dot)

    def _join(self, others: list[Origins]) -> None:
        self._variables = [_joined(pair) for pair in zip(self._variables, others, strict=True)]

    def _turn(self, node: syntax.Range, element: Origins) -> None:
        """One turn of the loop; the first of two variables is a key, which comes from nowhere."""
        for target in node.pipeline.targets:
            self._variables[target.slot] = _NOWHERE
        if node.pipeline.targets:
            self._variables[node.pipeline.targets[-1].slot] = element
        self._body(node.body, element)

    def _pipeline(self, node: syntax.Pipeline, dot: Origins) -> Origins:
        value = _NOWHERE
        for position, command in enumerate(node.commands):
            value = self._command(command, dot, [value] if position else [])
        for target in node.targets:
            self._variables[target.slot] = value
        return value

    def _command(self, node: syntax.Command, dot: Origins, piped: list[Origins]) -> Origins:
        values = [self._operand(operand, dot) for operand in node.operands]
        if node.function is None:
            return values[0]
        arguments = [*values[1:], *piped]
        if node.function in _HANDING_ON:
            return _joined(arguments)
        if node.function == "slice" and arguments:
            return arguments[0]
        if node.function == "index" and arguments:
            return _deeper(arguments[0], tuple(map(_key, node.operands[2:])))
        return _NOWHERE

    def _operand(self, node: syntax.Operand, dot: Origins) -> Origins:
        match node:
            case syntax.Dot():
                return dot
            case syntax.Variable(slot=slot):
                return self._variables[slot]
            case syntax.Pipeline():
                return self._pipeline(node, dot)
            case syntax.Fields():
                base = self._operand(node.base, dot)
                names, offset = tuple(field.name for field in node.chain), node.chain[0].start
                for path in base:
                    self.found.add(Reference((path + names)[:_LONGEST_PATH], offset, whole=path == _ROOT))
                return _deeper(base, names)
        return _NOWHERE


def _key(node: syntax.Operand) -> str:
    return node.value if isinstance(node, syntax.Literal) and isinstance(node.value, str) else ELEMENT


def _deeper(origins: Origins, names: Path) -> Origins:
    return frozenset((path + names)[:_LONGEST_PATH] for path in origins)


def _joined(parts: Iterable[Origins]) -> Origins:
    whole = frozenset().union(*parts)
    return whole if len(whole) <= _MOST_ORIGINS else frozenset(path[:1] for path in whole)
