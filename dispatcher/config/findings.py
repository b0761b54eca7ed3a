"""What is wrong with a configuration, how bad it is, and how it is shown: all of it at once, each with its place.

REFUSED   cannot run, or the Go framework refuses it too: no command accepts it
MISTAKE   runs, but not as its author can have meant it: an error in `validate` and with --strict, else a warning
ADVICE    works, and should be changed some day: a warning
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from dispatcher.config.compiled import Place
from dispatcher.config.rules import RULES
from shared.errors import Misconfigured, Problem
from shared.redaction import redact_message, redact_text


class Severity(StrEnum):
    REFUSED = "refused"
    MISTAKE = "mistake"
    ADVICE = "advice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong.

    `rule` is a short name for machines, `line` the text of the line, `origin` the variable or flag where the value does
    not come from a file.
    """

    severity: Severity
    rule: str
    message: str
    place: Place
    line: str = ""
    hint: str = ""
    origin: str = ""

    def __post_init__(self) -> None:
        assert self.rule in RULES, f"{self.rule} is not among the rules"
        # Every form of output is made of these, so that no secret of a setting or a file leaves by any of them.
        object.__setattr__(self, "message", redact_message(self.message))
        object.__setattr__(self, "line", redact_text(self.line))

    @property
    def at(self) -> str:
        return self.origin or str(self.place)

    def __str__(self) -> str:
        path = f"{self.place.path}: " if self.place.path else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.at}: {path}{self.message}{hint}"

    def explain(self) -> str:
        """For a person: the place, what is wrong, the line with a caret below it, and the hint."""
        path = f"{self.place.path}: " if self.place.path else ""
        text = f"{self.at}: {path}{self.message}"
        if self.line.strip() and not self.origin:
            text += f"\n{_pointed_at(self.line, self.place.column)}"
        hint = self.hint.replace("\n", "\n        ")
        return f"{text}\n  hint: {hint}" if hint else text


_SHOWN_BEFORE, _SHOWN_AFTER = 60, 60


def _pointed_at(line: str, column: int) -> str:
    first = max(0, column - 1 - _SHOWN_BEFORE)
    part = line[first : column - 1 + _SHOWN_AFTER]
    before = part[: column - 1 - first]
    cut = "…" if first else ""
    indent = " " * len(cut) + "".join("\t" if character == "\t" else " " for character in before)
    return f"    {cut}{part}\n    {indent}^"


class ConfigError(Misconfigured):
    """A configuration that is refused; `findings` are all that was found, the warnings too."""

    def __init__(self, findings: Iterable[Finding], *, refused: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        self.refused = tuple(refused)
        problems = [Problem(finding.at, finding.message) for finding in self.refused]
        super().__init__("the configuration is refused", problems)

    def explain(self) -> str:
        counted = f"{len(self.refused)} error{'' if len(self.refused) == 1 else 's'}"
        return "\n".join([f"the configuration is refused: {counted}", *(each.explain() for each in self.refused)])
