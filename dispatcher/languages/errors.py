"""How a language tells an author what is wrong, and where.

    LanguageError
    ├── Rejected          found at load: the source cannot mean anything; nothing was evaluated
    └── EvaluationError   found at run time: this source met a value it cannot work with
        └── LimitExceeded the evaluation was stopped before it could eat the process

Both point into the source with a line, a column and a caret, so that a mistake is seen, not searched for.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a source text; lines and columns start at 1, columns count characters."""

    line: int
    column: int

    @classmethod
    def of(cls, source: str, offset: int) -> "Position":
        before = source[: max(0, min(offset, len(source)))]
        return cls(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)


class LanguageError(Exception):
    """A mistake in, or met by, an author's source text."""

    def __init__(self, problem: str, *, source: str, offset: int = 0, hint: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.source = source
        self.position = Position.of(source, offset)
        self.hint = hint

    def __str__(self) -> str:
        return f"line {self.position.line}, column {self.position.column}: {self.problem}"

    def explain(self) -> str:
        """The whole story for a person: the problem, the source line, a caret below it, and the hint if there is one."""
        lines = self.source.split("\n")
        line = lines[self.position.line - 1] if self.position.line <= len(lines) else ""
        indent = "".join("\t" if c == "\t" else " " for c in line[: self.position.column - 1])
        parts = [str(self), f"  {line}", f"  {indent}^"]
        if self.hint:
            parts.append(f"hint: {self.hint}")
        return "\n".join(parts)


class Rejected(LanguageError):
    """The source is refused at load."""


class EvaluationError(LanguageError):
    """The evaluation failed; `fragment` is the part of the source that failed and `met` the value it met, shortened."""

    def __init__(
        self,
        problem: str,
        *,
        source: str,
        offset: int = 0,
        hint: str | None = None,
        fragment: str = "",
        met: str = "",
    ) -> None:
        super().__init__(problem, source=source, offset=offset, hint=hint)
        self.fragment = fragment
        self.met = met


class LimitExceeded(EvaluationError):
    """The evaluation was stopped by a limit on steps, depth, iterations or growth."""
