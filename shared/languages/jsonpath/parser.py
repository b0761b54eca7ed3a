"""From an author's text to its parts: paths in braces, the text between them, and loops over parts."""

import re
from dataclasses import dataclass

from shared.languages.errors import Rejected
from shared.languages.jsonpath.limits import MAX_NESTING, MAX_SOURCE
from shared.languages.jsonpath.path_parser import PathReader
from shared.languages.jsonpath.steps import Step

# What Go calls white space: Python's idea of it has four control characters more.
SPACE = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"

_KEYWORD = re.compile(r"\{[ @$]*(range|end)(?=[ \t\r\n.,\[\]$@{}]|$)")
_END = re.compile(r"[ @$]*\}")


@dataclass(frozen=True, slots=True)
class Action:
    """`{path}`"""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """`{range path}body{end}`: the body, once for each value the path selects, with that value as its document."""

    steps: tuple[Step, ...]
    body: tuple["Part", ...]


Part = str | Action | Loop


def parse(source: str) -> tuple[Part, ...]:
    text = source.strip(SPACE)
    if not text:
        raise Rejected("the path is empty", source=source, hint="name a key, as in `status.phase`")
    if len(text) > MAX_SOURCE:
        raise Rejected(f"the path is longer than {MAX_SOURCE:,} characters", source=source)
    origin = source.index(text)
    if text.startswith("{"):
        return _PartReader(source, text, origin).read()
    if text[0] in "$@[":
        problem = f"a path without braces starts with a key, not with `{text[0]}`"
        raise Rejected(problem, source=source, offset=origin, hint=f"write `{{{text}}}`")
    opening = "{" if text.startswith(".") else "{."
    return _PartReader(source, f"{opening}{text}}}", origin - len(opening)).read()


@dataclass(slots=True)
class _OpenLoop:
    at: int
    steps: tuple[Step, ...]
    before: list[Part]


class _PartReader:
    """Reads the parts of `text`, which starts at `origin` in the source."""

    def __init__(self, source: str, text: str, origin: int) -> None:
        self._source = source
        self._text = text
        self._origin = origin
        self._at = 0
        self._parts: list[Part] = []
        self._loops: list[_OpenLoop] = []

    def read(self) -> tuple[Part, ...]:
        while self._at < len(self._text):
            if self._text[self._at] != "{":
                self._read_text()
            elif keyword := _KEYWORD.match(self._text, self._at):
                self._read_keyword(keyword)
            else:
                self._parts.append(Action(self._read_path(self._at + 1)))
        if self._loops:
            raise self._mistake("this range has no `{end}`", self._loops[-1].at)
        return tuple(self._parts)

    def _read_text(self) -> None:
        end = self._text.find("{", self._at)
        end = len(self._text) if end < 0 else end
        self._parts.append(self._text[self._at : end])
        self._at = end

    def _read_path(self, at: int) -> tuple[Step, ...]:
        path = PathReader(self._source, self._text, self._origin, at)
        steps = path.read_to_brace()
        self._at = path.at
        return steps

    def _read_keyword(self, keyword: re.Match[str]) -> None:
        start = self._at
        if keyword[1] == "range":
            if len(self._loops) == MAX_NESTING:
                raise self._mistake(f"more than {MAX_NESTING} ranges inside each other", start)
            self._loops.append(_OpenLoop(start, self._read_path(keyword.end()), self._parts))
            self._parts = []
            return
        closing = _END.match(self._text, keyword.end())
        if closing is None:
            raise self._mistake("`end` stands alone in its braces", start)
        if not self._loops:
            raise self._mistake("there is no range to end here", start)
        loop = self._loops.pop()
        self._parts = [*loop.before, Loop(loop.steps, tuple(self._parts))]
        self._at = closing.end()

    def _mistake(self, problem: str, at: int) -> Rejected:
        return Rejected(problem, source=self._source, offset=self._origin + at)
