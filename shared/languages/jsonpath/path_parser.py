"""From the text of one path to its steps.

The grammar is what client-go's parser accepts, with its surprises: a quoted key is read as a path again, so its dots
separate; brackets end at the first `]`; `$` and `@` are decoration. What client-go accepts and can never evaluate (an
unknown word, an unknown operator, an empty name) is refused here, at load.
"""

import re
from math import isinf

from shared.languages.errors import Rejected
from shared.languages.jsonpath.comparison import COMPARISONS
from shared.languages.jsonpath.evaluation import Span
from shared.languages.jsonpath.quoting import BadEscape, unquote
from shared.languages.jsonpath.steps import (
    Compare,
    Descent,
    Exists,
    Field,
    Index,
    Literal,
    Slice,
    Step,
    Union,
    Wildcard,
)

_NAME = re.compile(r"(?:\\.|[^ \t\r\n.,\[\]$@{}\\])*", re.DOTALL)
_WORD = re.compile(r"[^ \t\r\n.,\[\]$@{}]+")
_NUMBER = re.compile(r"[+-]?[\d.]*")
_WHOLE = re.compile(r"([+-]?)(?=[0-9])0*([0-9]{0,19})")
_FRACTION = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
_BOUNDS = re.compile(r"(-?[0-9]*)(?::(-?[0-9]*))?(?::(-?[0-9]*))?")
_COMPARISON = re.compile(r"([^!<>=]+)([!<>=]+)(.+)")

_HINTS = {
    "&": "a filter holds one comparison; CEL has `&&`",
    "|": "a filter holds one comparison; CEL has `||`",
    "~": "there are no regular expressions here; CEL has `matches`",
    "!": "there is no negation here; CEL has it",
    "*": "everything inside is `.*` for an object, `[*]` for a list",
    "(": "there are no functions here; CEL has them",
    ",": "write `{.a}{.b}` for two paths, or `['a','b']` for two keys",
    "\t": "only the space character may separate",
    "}": "a brace in a key is written `\\}`",
}


class PathReader:
    """Reads one path.

    `text` is the source, or a piece of it with a mark put in front; `origin` is where it starts in the source, so that
    every step and every mistake points at what the author wrote.
    """

    def __init__(self, source: str, text: str, origin: int, at: int = 0) -> None:
        self.at = at
        self._source = source
        self._text = text
        self._origin = origin
        self._steps: list[Step] = []

    def read_to_brace(self) -> tuple[Step, ...]:
        opening = self.at
        while not self._text.startswith("}", self.at):
            if self._text[self.at : self.at + 1] in ("", "\n", "\r"):
                hint = "a path in braces ends with `}`"
                raise self._mistake("this path does not end on its line", opening - 1, hint=hint)
            self._read_step()
        self.at += 1
        return tuple(self._steps)

    def read_to_end(self) -> tuple[Step, ...]:
        while self.at < len(self._text):
            self._read_step()
        return tuple(self._steps)

    def _read_step(self) -> None:
        char = self._text[self.at]
        if self._text.startswith("[?(", self.at):
            self._read_filter()
        elif self._text.startswith("..", self.at):
            self._read_descent()
        elif char == "[":
            self._read_bracket()
        elif char == ".":
            self._read_name(self.at + 1)
        elif char in "'\"":
            self._read_quoted(char)
        elif char in "+-" or char.isdecimal():
            self._read_number()
        elif char in " $@":
            self.at += 1
        elif char == "_" or char.isalpha():
            self._read_word()
        else:
            raise self._mistake(f"{char!r} has no meaning here", self.at, hint=_HINTS.get(char))

    def _read_descent(self) -> None:
        if self._steps and isinstance(self._steps[-1], Descent):
            raise self._mistake("`..` follows `..`", self.at)
        start = self.at
        self.at += 2
        self._steps.append(Descent(self._span(start)))
        following = self._text[self.at : self.at + 1]
        if following == "_" or following.isalnum():
            self._read_name(self.at)

    def _read_name(self, name_start: int) -> None:
        start = self.at
        name = _NAME.match(self._text, name_start)
        assert name is not None
        self.at = name.end()
        if self._text.startswith("\\", self.at):
            raise self._mistake("nothing follows this backslash", self.at)
        if not name.group():
            raise self._mistake(
                "a key is missing behind this dot",
                start,
                hint="name a key, as in `.a.b`; the whole document is `{@}`",
            )
        if name.group() == "*":
            self._steps.append(Wildcard(self._span(start)))
        else:
            self._steps.append(Field(name.group().replace("\\", ""), self._span(start)))

    def _read_word(self) -> None:
        start = self.at
        found = _WORD.match(self._text, self.at)
        assert found is not None
        word = found.group()
        self.at = found.end()
        if word in ("range", "end"):
            raise self._mistake(f"`{word}` comes first in its braces", start, hint="{range .items[*]}{.name}{end}")
        if word not in ("true", "false"):
            raise self._mistake(f"unknown word `{word}`", start, hint=f"a key is written `.{word}`, a text `'{word}'`")
        self._steps.append(Literal(word == "true", self._span(start)))

    def _read_number(self) -> None:
        start = self.at
        found = _NUMBER.match(self._text, self.at)
        assert found is not None
        spelled = found.group()
        self.at = found.end()
        number: float | None = _whole(spelled)
        if number is None and _FRACTION.fullmatch(spelled):
            number = float(spelled)
        if number is None or isinf(number):
            raise self._mistake(f"`{spelled}` is not a number", start)
        self._steps.append(Literal(number, self._span(start)))

    def _read_quoted(self, quote: str) -> None:
        start = self.at
        while True:
            self.at += 1
            if self._text[self.at : self.at + 1] in ("", "\n"):
                raise self._mistake("this quote is not closed", start)
            if self._text[self.at] == quote and self._text[self.at - 1] != "\\":
                break
        content = self._text[start + 1 : self.at]
        try:
            value = unquote(content, quote)
        except BadEscape as bad:
            raise self._mistake("this escape is not one of Go's", start + 1 + bad.at) from None
        self.at += 1
        self._steps.append(Literal(value, self._span(start)))

    def _read_filter(self) -> None:
        start = self.at
        end = self._filter_end()
        self.at = end + 2
        if not self._text.startswith("]", end + 1):
            raise self._mistake("`]` is missing here", end + 1, hint="a filter ends with `)]`")
        condition = self._text[start + 3 : end]
        comparison = _COMPARISON.fullmatch(condition)
        if comparison is None:
            self._steps.append(Exists(self._piece(condition, start + 3), self._span(start)))
            return
        operator = comparison[2]
        left = self._piece(comparison[1], start + 3)
        right = self._piece(comparison[3], start + 3 + comparison.start(3))
        if operator not in COMPARISONS:
            known = " ".join(f"`{each}`" for each in COMPARISONS)
            operator_at = start + 3 + comparison.start(2)
            raise self._mistake(f"unknown operator `{operator}`", operator_at, hint=f"there are {known}")
        self._steps.append(Compare(left, operator, right, self._span(start)))

    def _filter_end(self) -> int:
        """A `)` ends the filter unless it is in quotes; as in client-go, only the first pair of quotes counts."""
        quote, closed = None, False
        for at in range(self.at + 3, len(self._text)):
            char = self._text[at]
            if char == "\n":
                break
            if char == ")" and (quote is None or closed):
                return at
            if char in "'\"":
                closed = closed or (char == quote and self._text[at - 1] != "\\")
                quote = quote or char
        raise self._mistake("this filter is not closed", self.at, hint="a filter ends with `)]`")

    def _read_bracket(self) -> None:
        start = self.at
        end = self._text.find("]", start)
        if end < 0 or "\n" in self._text[start:end]:
            raise self._mistake("this bracket is not closed", start)
        self.at = end + 1
        content = self._text[start + 1 : end]
        if "," in content:
            self._steps.append(Union(self._branches(content, start + 1), self._span(start)))
        elif len(content) > 1 and content[0] == content[-1] == "'" and "'" not in content[1:-1]:
            self._steps.extend(self._piece(content[1:-1], start + 2, mark="."))
        elif content == "*":
            self._steps.append(Slice(None, None, 1, self._span(start)))
        else:
            self._steps.append(self._positions(content, start))

    def _branches(self, content: str, at: int) -> tuple[tuple[Step, ...], ...]:
        branches = []
        for branch in content.split(","):
            inner = branch.strip(" ")
            inner_at = at + len(branch) - len(branch.lstrip(" "))
            branches.append(self._piece(f"{inner}]", inner_at, mark="["))
            at += len(branch) + 1
        return tuple(branches)

    def _positions(self, content: str, start: int) -> Index | Slice:
        bounds = _BOUNDS.fullmatch(content)
        if bounds is None:
            hint = "a key in brackets takes single quotes: `['key']`; a comma, a `]` or a quote in it is not possible"
            raise self._mistake(f"`{content}` is neither an index nor a key", start + 1, hint=hint)
        numbers = [None if spelled in (None, "") else self._bound(spelled, start) for spelled in bounds.groups()]
        if bounds[2] is None:
            return Index(numbers[0] or 0, self._span(start))
        step = 1 if numbers[2] is None else numbers[2]
        if step <= 0:
            raise self._mistake("the step of a slice is at least 1", start)
        return Slice(numbers[0], numbers[1], step, self._span(start))

    def _bound(self, spelled: str, start: int) -> int:
        number = _whole(spelled)
        if number is None:
            raise self._mistake(f"`{spelled}` is not an index", start)
        return number

    def _piece(self, text: str, at: int, *, mark: str = "") -> tuple[Step, ...]:
        """The steps of a piece of this path that stands at `at`, read as if `mark` stood before it."""
        return PathReader(self._source, mark + text, self._origin + at - len(mark)).read_to_end()

    def _span(self, start: int) -> Span:
        return Span(max(0, self._origin + start), min(len(self._source), self._origin + self.at))

    def _mistake(self, problem: str, at: int, *, hint: str | None = None) -> Rejected:
        return Rejected(problem, source=self._source, offset=self._origin + at, hint=hint)


def _whole(spelled: str) -> int | None:
    """A whole number of 64 bits. The pattern bounds its digits, so that `int` never meets a long text."""
    found = _WHOLE.fullmatch(spelled)
    if found is None:
        return None
    number = int(f"{found[1]}{found[2] or 0}")
    return number if -(2**63) <= number < 2**63 else None
