"""What a compilation has in hand: the document, the findings, and every use of a language with the names it may see."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from dispatcher.config.compiled import Place
from dispatcher.config.compiling.broken import broken_cel, broken_path, broken_template
from dispatcher.config.findings import Finding, Severity
from dispatcher.config.reading import paths
from dispatcher.config.reading.documents import Document
from shared.languages.cel import CelProgram, Limits, compile_cel
from shared.languages.cel.parsing.parser import parse as parse_cel
from shared.languages.errors import Rejected
from shared.languages.gotemplate import Template, compile_template
from shared.languages.jsonpath import Program, compile_jsonpath

Locate = Callable[[int], Place]
"""From an offset in a source text to its place in a file."""

_CACHED: Final = 4096


class Phase(Enum):
    PARAMS = auto()
    PRECONDITIONS = auto()
    RESOURCES = auto()
    POST = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One source of a language. `names` are the variables it may read; None where they are known only when it runs.

    `answers` are names it can read for certain where `names` is None. `checked_in_go` says whether the Go framework
    looks for unknown names there at load.
    """

    program: CelProgram | Template | Program
    locate: Locate
    names: frozenset[str] | None
    phase: Phase
    checked_in_go: bool = True
    answers: frozenset[str] = frozenset()


@dataclass(slots=True)
class Context:
    """`assumed` are names that count as defined, because the blocks that define them are wrong."""

    document: Document
    findings: list[Finding]
    folder: Path
    assumed: frozenset[str] = frozenset()
    uses: list[Use] = field(default_factory=list)
    documents: dict[str, Document] = field(default_factory=dict)
    phase: Phase = Phase.PARAMS

    def place(self, path: paths.Path, *, key: bool = False) -> Place:
        return self.document.place(path, key=key)

    def locate(self, path: paths.Path) -> Locate:
        return partial(self.document.place_in, path)

    def report(self, severity: Severity, rule: str, message: str, place: Place, hint: str | None = "") -> None:
        self.findings.append(Finding(severity=severity, rule=rule, message=message, place=place, hint=hint or ""))

    def cel(
        self,
        source: str,
        locate: Locate,
        names: frozenset[str] | None,
        *,
        checked_in_go: bool = True,
        answers: frozenset[str] = frozenset(),
    ) -> CelProgram:
        """A source that does not parse is refused, as in Go; one that can only fail when it runs is a mistake."""
        text = source.strip()
        indent = len(source) - len(source.lstrip())
        try:
            program = compiled_cel(text)
        except Rejected as refusal:
            severity = Severity.REFUSED if checked_in_go and not _parses(text) else Severity.MISTAKE
            self.report(severity, "cel", refusal.problem, locate(refusal.offset + indent), refusal.hint)
            return broken_cel(refusal)
        self._used(program, lambda offset: locate(offset + indent), names, checked_in_go=checked_in_go, answers=answers)
        return program

    def template(
        self, source: str, locate: Locate, names: frozenset[str] | None, *, checked_in_go: bool = True
    ) -> Template:
        try:
            template = compiled_template(source)
        except Rejected as refusal:
            self.report(Severity.MISTAKE, "template", refusal.problem, locate(refusal.offset), refusal.hint)
            return broken_template(refusal)
        if template.compiled is not None:
            self._used(template, locate, names, checked_in_go=checked_in_go)
        return template

    def jsonpath(self, source: str, locate: Locate, names: frozenset[str] | None) -> Program:
        try:
            program = compile_jsonpath(source)
        except Rejected as refusal:
            self.report(Severity.MISTAKE, "jsonpath", refusal.problem, locate(refusal.offset), refusal.hint)
            return broken_path(refusal)
        self._used(program, locate, names, checked_in_go=False)
        return program

    def _used(
        self,
        program: CelProgram | Template | Program,
        locate: Locate,
        names: frozenset[str] | None,
        *,
        checked_in_go: bool,
        answers: frozenset[str] = frozenset(),
    ) -> None:
        self.uses.append(
            Use(
                program=program,
                locate=locate,
                names=names,
                phase=self.phase,
                checked_in_go=checked_in_go,
                answers=answers,
            )
        )


@lru_cache(_CACHED)
def compiled_cel(source: str) -> CelProgram:
    return compile_cel(source)


@lru_cache(_CACHED)
def compiled_template(source: str) -> Template:
    return compile_template(source)


def _parses(source: str) -> bool:
    try:
        parse_cel(source, Limits())
    except (Rejected, RecursionError):
        return False
    return True
