"""Searches without JSON operators: the tree-search language, in which a doubled quote is an escaped quote."""

import re
from typing import NamedTuple

from lab.maestro.search import terms
from lab.maestro.search.terms import Operand, Table, Term
from lab.maestro.storage.refusals import Code, Refusal

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*|\"[^\"]*\")"
    r"|(?P<sign><=|>=|<>|!=|[=<>(),.+-]))"
)
_KEYWORDS = frozenset(("like", "ilike", "and", "or", "between", "in", "is", "null", "not"))
_COMPARISONS = frozenset(("=", "<>", "!=", "<", "<=", ">", ">="))


class _Token(NamedTuple):
    kind: str
    value: str


class _Unparsable(ValueError):
    pass


def parse(text: str, table: Table) -> Term:
    try:
        parser = _Parser(_tokens(text), table)
        term = parser.any_of()
        parser.expect("end")
    except _Unparsable:
        raise Refusal(Code.BAD_REQUEST, f"Failed to parse search query: {text}") from None
    return term


def _tokens(text: str) -> list[_Token]:
    found, position = [], 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None:
            raise _Unparsable
        kind, value = str(match.lastgroup), match[str(match.lastgroup)]
        if kind == "name" and value.lower() in _KEYWORDS:
            kind, value = value.lower(), value.lower()
        found.append(_Token(value if kind == "sign" else kind, value))
        position = match.end()
    return [*found, _Token("end", "")]


class _Parser:
    """Recursive descent; `not` binds closest, then `and`, then `or`."""

    def __init__(self, tokens: list[_Token], table: Table) -> None:
        self._tokens = tokens
        self._table = table
        self._next = 0

    def expect(self, *kinds: str) -> str:
        token = self._tokens[self._next]
        if token.kind not in kinds:
            raise _Unparsable
        self._next += 1
        return token.value

    def _accept(self, kind: str) -> bool:
        if self._tokens[self._next].kind != kind:
            return False
        self._next += 1
        return True

    def any_of(self) -> Term:
        term = self._all_of()
        while self._accept("or"):
            term = terms.either(term, self._all_of())
        return term

    def _all_of(self) -> Term:
        term = self._single()
        while self._accept("and"):
            term = terms.both(term, self._single())
        return term

    def _single(self) -> Term:
        if self._accept("not"):
            return terms.negated(self._single())
        if self._accept("("):
            term = self.any_of()
            self.expect(")")
            return term
        return self._comparison(self._column_name())

    def _comparison(self, name: str) -> Term:
        token = self._tokens[self._next]
        if token.kind in _COMPARISONS:
            self._next += 1
            literal = self._literal()
            return terms.compare(self._column(name), token.kind, literal)
        if self._accept("is"):
            return self._is(name)
        denied = self._accept("not")
        term = self._ranged(name)
        return terms.negated(term) if denied else term

    def _is(self, name: str) -> Term:
        denied = self._accept("not")
        if self._accept("null"):
            term = terms.is_null(self._column(name))
            return terms.negated(term) if denied else term
        return terms.compare(self._column(name), "<>" if denied else "=", self._literal())

    def _ranged(self, name: str) -> Term:
        match self.expect("like", "ilike", "in", "between"):
            case "in":
                literals = self._literals()
                return terms.among(self._column(name), literals)
            case "between":
                low = self._literal()
                self.expect("and")
                high = self._literal()
                column = self._column(name)
                return terms.both(terms.compare(column, ">=", low), terms.compare(column, "<=", high))
            case how:
                pattern = _unquoted(self.expect("text"))
                return terms.like(self._column(name), pattern, ignore_case=how == "ilike")

    def _literals(self) -> list[str | float]:
        self.expect("(")
        if self._accept(")"):
            return []
        literals = [self._literal()]
        while self.expect(",", ")") == ",":
            literals.append(self._literal())
        return literals

    def _literal(self) -> str | float:
        match self.expect("text", "number", "+", "-"):
            case "+":
                return float(self.expect("number"))
            case "-":
                return -float(self.expect("number"))
            case text if text.startswith("'"):
                return _unquoted(text)
            case number:
                return float(number)

    def _column_name(self) -> str:
        parts = [self.expect("name")]
        while self._accept("."):
            parts.append(self.expect("name"))
        return ".".join(parts)

    def _column(self, name: str) -> Operand:
        *owners, own = name.split(".")
        if owners and owners != [self._table.name]:
            reason = f"{owners[0]} is not a related resource of {self._table.model}"
            raise Refusal(Code.BAD_REQUEST, reason)
        bare = own.strip('"') if own.startswith('"') else own.lower()
        return terms.column(self._table, bare, shown_as=f"{self._table.name}.{bare}")


def _unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'")
