"""Searches with `->>` or `@>`: a separate parser with fewer keywords, no doubled quotes, and at most ten joins."""

import re
from typing import NamedTuple, NoReturn

from lab.maestro.search import terms
from lab.maestro.search.terms import Operand, Table, Term
from lab.maestro.storage.refusals import Code, Refusal

MAX_JOINS = 10
# After a backslash the next quote, however far away, does not end the text.
_TOKEN = re.compile(r"'(?:[^'\\]|\\[^']*(?:'|$))*'?|[@=<>-]+|[(),]|[^ '(),@=<>-]+")
_COLUMN = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")
_QUOTED = re.compile(r"'([^']|\\')*'")
_WORD = re.compile(r"[^'() ]*")
_COMPARISONS = ("=", "<>", ">", "<", ">=", "<=")
_TEXT_COMPARISONS = ("=", "<>")


class _Token(NamedTuple):
    value: str
    position: int


class _Unparsable(ValueError):
    pass


def parse(text: str, table: Table) -> Term:
    try:
        return _Parser(_tokens(text), table).whole()
    except _Unparsable as error:
        raise Refusal(Code.BAD_REQUEST, f"failed to parse the search query: {error}") from None


def _tokens(text: str) -> list[_Token]:
    return [_Token(match[0], len(text[: match.start()].encode()) + 1) for match in _TOKEN.finditer(text)]


class _Parser:
    def __init__(self, tokens: list[_Token], table: Table) -> None:
        self._tokens = tokens
        self._table = table
        self._next = 0
        self._joins = 0

    def whole(self) -> Term:
        term = self._any_of()
        if self._next < len(self._tokens):
            self._refuse("unexpected ')'" if self._peek() == ")" else "")
        return term

    def _peek(self) -> str:
        return self._tokens[self._next].value if self._next < len(self._tokens) else ""

    def _refuse(self, problem: str = "") -> NoReturn:
        if self._next >= len(self._tokens):
            raise _Unparsable("EOF encountered while parsing string")
        token = self._tokens[self._next]
        problem = problem or f"unexpected token `{token.value}`"
        raise _Unparsable(f"[{token.position}] error parsing the filter: {problem}")

    def _take(self, pattern: re.Pattern[str]) -> str:
        value = self._peek()
        if self._next >= len(self._tokens) or not pattern.fullmatch(value):
            self._refuse()
        self._next += 1
        return value

    def _accept(self, *values: str) -> str:
        value = self._peek()
        if value.lower() not in values:
            return ""
        self._next += 1
        return value.lower()

    def _expect(self, *values: str) -> str:
        return self._accept(*values) or self._refuse()

    def _join(self, keyword: str) -> bool:
        if self._peek().lower() != keyword:
            return False
        self._joins += 1
        if self._joins > MAX_JOINS:
            self._refuse(f"maximum number of permitted joins ({MAX_JOINS}) exceeded")
        self._next += 1
        return True

    def _any_of(self) -> Term:
        term = self._all_of()
        while self._join("or"):
            term = terms.either(term, self._all_of())
        return term

    def _all_of(self) -> Term:
        term = self._single()
        while self._join("and"):
            term = terms.both(term, self._single())
        return term

    def _single(self) -> Term:
        if not self._accept("("):
            return self._comparison()
        term = self._any_of()
        if self._next >= len(self._tokens):
            raise _Unparsable("EOF while searching for closing brace ')'")
        self._expect(")")
        return term

    def _comparison(self) -> Term:
        name = self._take(_COLUMN).lower()
        if self._peek() == "->":
            return self._json_comparison(name)
        return self._tested(name, (), _COMPARISONS)

    def _json_comparison(self, name: str) -> Term:
        path: list[str] = []
        while self._accept("->"):
            path.append(self._take(_QUOTED)[1:-1])
        if self._expect("->>", "@>") == "@>":
            content = _unquoted(self._take(_QUOTED))
            return terms.contains(self._operand(name, path), content)
        path.append(self._take(_QUOTED)[1:-1])
        return self._tested(name, path, _TEXT_COMPARISONS)

    def _tested(self, name: str, path: tuple[str, ...] | list[str], comparisons: tuple[str, ...]) -> Term:
        if self._join("not"):
            self._expect("in")
            return terms.negated(terms.among(self._operand(name, path, as_text=True), self._listed()))
        how = self._expect(*comparisons, "like", "ilike", "in")
        if how == "in":
            return terms.among(self._operand(name, path, as_text=True), self._listed())
        value = self._value()
        left = self._operand(name, path, as_text=True)
        if how in comparisons:
            return terms.compare(left, how, value)
        return terms.like(left, value, ignore_case=how == "ilike")

    def _operand(self, name: str, path: tuple[str, ...] | list[str], *, as_text: bool = False) -> Operand:
        owner, _, bare = name.rpartition(".")
        if owner not in ("", self._table.name):
            raise terms.failed(f'missing FROM-clause entry for table "{owner}"', "42P01")
        operand = terms.column(self._table, bare, shown_as=f'"{name}"')
        for position, key in enumerate(path, start=1):
            operand = terms.member(operand, key, as_text=as_text and position == len(path))
        return operand

    def _value(self) -> str:
        if _QUOTED.fullmatch(self._peek()):
            return _unquoted(self._take(_QUOTED))
        return self._take(_WORD)

    def _listed(self) -> list[str]:
        self._expect("(")
        values = [self._value()]
        while self._expect(",", ")") == ",":
            values.append(self._value())
        return values


def _unquoted(token: str) -> str:
    """The text between the quotes. The real parser counts bytes but cuts characters, so it corrupts non-ASCII text."""
    text = token.replace("\\'", "'")
    end = len(text.encode()) - 1
    value = text.ljust(end, "\0")[1:end]
    if "\0" in value:
        raise terms.failed('invalid byte sequence for encoding "UTF8": 0x00', "22021")
    return value
