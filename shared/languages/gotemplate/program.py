"""The seam: a source is compiled once and rendered many times."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from shared.languages.clock import Clock, system_clock
from shared.languages.errors import LimitExceeded, Rejected
from shared.languages.gotemplate.compiling.calls import Problem
from shared.languages.gotemplate.compiling.compiler import Compiler
from shared.languages.gotemplate.compiling.plain import render_plain
from shared.languages.gotemplate.compiling.references import ELEMENT, Path, Reference, references
from shared.languages.gotemplate.functions.registry import FUNCTIONS
from shared.languages.gotemplate.parsing import mistakes, syntax
from shared.languages.gotemplate.parsing.lexer import OPENING
from shared.languages.gotemplate.parsing.parser import parse
from shared.languages.gotemplate.runtime.evaluation import Evaluation
from shared.languages.gotemplate.runtime.failure import Failure

_TOO_DEEP = "the nesting is too deep"


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """A compiled template. `references` are its reads of variables, `functions` what it may call."""

    source: str
    functions: frozenset[str]
    references: tuple[Reference, ...]
    compiled: Compiler | None
    """None for a text without any action."""

    @property
    def free_variables(self) -> frozenset[str]:
        """The names that must be among the variables."""
        return frozenset(path[0] for path in self.free_paths) - {ELEMENT}

    @property
    def free_paths(self) -> frozenset[Path]:
        """What is read of the variables, and below them; `*` stands for any element."""
        return frozenset(reference.path for reference in self.references)

    def problems(self, variables: Collection[str]) -> tuple[Rejected, ...]:
        """What can only fail when these are the variables, in the order of the source."""
        found = list(self.compiled.problems) if self.compiled else []
        for reference in self.references:
            name = reference.path[0]
            if reference.whole and name not in variables and name != ELEMENT:
                hint = mistakes.variable(name, variables)
                found.append(Problem(f"unknown variable {name!r}", reference.offset, hint))
        found.sort(key=lambda problem: problem.offset)
        return tuple(Rejected(p.problem, source=self.source, offset=p.offset, hint=p.hint) for p in found)

    def evaluate(self, variables: Mapping[str, Any], *, clock: Clock = system_clock) -> str:
        """The text that the template makes of the variables; `clock` gives `now`."""
        if self.compiled is not None and self.compiled.plain is not None:
            text = render_plain(self.compiled.plain, variables)
            if text is not None:
                return text
        return self.run(Evaluation(clock), variables)

    def run(self, run: Evaluation, variables: Mapping[str, Any]) -> str:
        """The same as one part of a rendering that shares its limits."""
        if self.compiled is None:
            return self.source
        try:
            if self.compiled.plain is not None:
                text = render_plain(self.compiled.plain, variables)
                if text is not None:
                    run.spend(len(self.compiled.plain) + 1)
                    run.output.count(text)
                    return text
            self.compiled.main(run, variables)
        except Failure as failure:
            raise self.compiled.blame(syntax.Node(0, len(self.source)), failure) from None
        except RecursionError:
            raise LimitExceeded(_TOO_DEEP, source=self.source) from None
        return run.take()


def compile_template(source: str, *, variables: Collection[str] | None = None) -> Template:
    """With `variables`, a template that cannot succeed with them is refused; without, only what Go's parser refuses."""
    if OPENING not in source:
        return Template(source, frozenset(), (), None)
    try:
        tree = parse(source, FUNCTIONS.keys(), variables or ())
        template = Template(source, tree.functions, references(tree), Compiler(tree))
    except RecursionError:
        raise Rejected(_TOO_DEEP, source=source) from None
    problems = () if variables is None else template.problems(variables)
    if problems:
        raise problems[0]
    return template
