"""Differences for people: one line each, `+` for what comes, `-` for what goes."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from maestro_cli.changes.comparing import Difference, Kind

_RED: Final = "\x1b[31m"
_GREEN: Final = "\x1b[32m"
_PLAIN: Final = "\x1b[0m"
_LONGEST: Final = 200


def show(differences: Sequence[Difference], *, colour: bool) -> str:
    return "\n".join(line for each in differences for line in _lines(each, colour=colour))


def _lines(difference: Difference, *, colour: bool) -> Iterator[str]:
    where = " ".join(part for part in (difference.subject, difference.path) if part)
    if difference.kind is not Kind.ADDED:
        yield _coloured(f"- {where}: {_shown(difference.before)}", _RED, colour=colour)
    if difference.kind is not Kind.REMOVED:
        yield _coloured(f"+ {where}: {_shown(difference.after)}", _GREEN, colour=colour)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def _coloured(line: str, code: str, *, colour: bool) -> str:
    return f"{code}{line}{_PLAIN}" if colour else line
