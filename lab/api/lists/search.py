"""The search language of lists, the part of it that clients use.

    name = 'demo' and (labels.env in ('dev', 'test') or not generation > 3)
    status.conditions.Reconciled = 'False' and status.conditions.Reconciled.last_updated_time < '2026-01-02T03:04:05Z'
    deleted_time is null

Operators: `= != < <= > >=`, `in (…)`, `not in (…)`, `is null`, `is not null`, `and`, `or`, `not`, parentheses. The API
refuses `not` before conditions and labels.
"""

import re
from typing import NamedTuple, NoReturn

from lab.api.lists.terms import COMPARISONS, Literal, Matcher, Operand, compare, is_in, is_null, operand
from lab.api.problems import BAD_REQUEST, Problem

MAX_LENGTH = 4096
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>'(?:[^'\\]|\\.)*')
      | (?P<number>-?\d+(?:\.\d+)?)
      | (?P<name>[A-Za-z_][\w./-]*)
      | (?P<sign><=|>=|!=|=|<|>|\(|\)|,)
    )""",
    re.VERBOSE | re.ASCII,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_KEYWORDS = {"and", "or", "not", "in", "is", "null"}


class _Token(NamedTuple):
    kind: str
    value: str

    @property
    def keyword(self) -> str:
        return self.value.lower() if self.kind == "name" else self.value


_END = _Token("end", "")


def matcher(text: str) -> Matcher:
    """Whether a resource is searched for. Raises Problem for a search that cannot be read."""
    if len(text) > MAX_LENGTH:
        raise Problem(BAD_REQUEST, f"search query exceeds maximum length of {MAX_LENGTH} characters")
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._scan()
        self._next = 0
        self._negated = 0

    def whole(self) -> Matcher:
        found = self._either()
        if self._peek() is not _END:
            self._refuse()
        return found

    def _scan(self) -> list[_Token]:
        tokens, position, text = list[_Token](), 0, self._text.rstrip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                self._refuse()
            kind = match.lastgroup or ""
            tokens.append(_Token(kind, match[kind]))
            position = match.end()
        return tokens

    def _either(self) -> Matcher:
        left = self._both()
        while self._accept("or"):
            left = _or(left, self._both())
        return left

    def _both(self) -> Matcher:
        left = self._single()
        while self._accept("and"):
            left = _and(left, self._single())
        return left

    def _single(self) -> Matcher:
        if self._accept("not"):
            self._negated += 1
            inner = self._single()
            self._negated -= 1
            return _not(inner)
        if self._accept("("):
            inner = self._either()
            self._expect(")")
            return inner
        return self._comparison()

    def _comparison(self) -> Matcher:
        left = self._operand()
        if self._accept("is"):
            negated = self._accept("not")
            self._expect("null")
            return _not(is_null(left)) if negated else is_null(left)
        if self._accept("not"):
            self._expect("in")
            chosen = is_in(left, self._literals())
            return lambda resource: left.read(resource) is not None and not chosen(resource)
        if self._accept("in"):
            return is_in(left, self._literals())
        sign = self._take()
        if sign.kind != "sign" or sign.value not in COMPARISONS:
            self._refuse()
        return compare(left, sign.value, self._literal())

    def _operand(self) -> Operand:
        token = self._take()
        if token.kind != "name" or token.keyword in _KEYWORDS:
            self._refuse()
        found = operand(token.value)
        if self._negated and not found.negatable:
            raise Problem(BAD_REQUEST, f"NOT operator is not supported with {found.name}; use the inverse instead")
        return found

    def _literals(self) -> list[Literal]:
        self._expect("(")
        literals = [self._literal()]
        while self._accept(","):
            literals.append(self._literal())
        self._expect(")")
        return literals

    def _literal(self) -> Literal:
        token = self._take()
        if token.kind not in {"text", "number"}:
            self._refuse()
        return float(token.value) if token.kind == "number" else _ESCAPED.sub(r"\1", token.value[1:-1])

    def _peek(self) -> _Token:
        return self._tokens[self._next] if self._next < len(self._tokens) else _END

    def _take(self) -> _Token:
        token = self._peek()
        self._next += 1
        return token

    def _accept(self, value: str) -> bool:
        if self._peek().kind in {"name", "sign"} and self._peek().keyword == value:
            self._next += 1
            return True
        return False

    def _expect(self, value: str) -> None:
        if not self._accept(value):
            self._refuse()

    def _refuse(self) -> NoReturn:
        raise Problem(BAD_REQUEST, f"Failed to parse search query: {self._text}")


def _and(left: Matcher, right: Matcher) -> Matcher:
    return lambda resource: left(resource) and right(resource)


def _or(left: Matcher, right: Matcher) -> Matcher:
    return lambda resource: left(resource) or right(resource)


def _not(inner: Matcher) -> Matcher:
    return lambda resource: not inner(resource)
