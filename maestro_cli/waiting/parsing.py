"""From the text of an expression to its tree, or to a refusal that points at the place.

expression := all-of (OR all-of)*
all-of     := not (AND not)*
not        := NOT not | "(" expression ")" | (any | all) "(" test ")" | test
test       := [Kind["/"[namespace"/"]name]":"] subject [comparator value | in "(" value ("," value)* ")"]
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from maestro_cli.waiting.syntax import And, Comparator, Expression, In, Not, Or, Quantified, Quantifier, Scalar, Target
from maestro_cli.waiting.syntax import Test as Comparison
from shared.errors import Permanent

_MAX_LENGTH: Final = 10_000
_MAX_DEPTH: Final = 50
_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<number>-?\d+(?:\.\d+)?(?![\w./:\-]))
    |(?P<name>[A-Za-z0-9_][\w.\-\[\]]*)
    |(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<sign>&&|\|\||==|!=|>=|<=|[=<>!(),:/])""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_AND, _OR, _NOT = frozenset({"AND", "&&"}), frozenset({"OR", "||"}), frozenset({"NOT", "!"})
_COMPARATORS = {"==": Comparator.EQUAL, **{each.value: each for each in Comparator}}
_KEYWORDS = frozenset({"AND", "OR", "NOT"})


class InvalidExpression(Permanent):
    """The text is no expression; `offset` is where it stops being one."""

    def __init__(self, problem: str, *, source: str, offset: int) -> None:
        self.source, self.offset = source, offset
        super().__init__(f"column {offset + 1} of the wait expression: {problem}")

    def explain(self) -> str:
        """The problem, and the expression with a caret below the place."""
        line = self.source.replace("\n", " ")
        return f"{self}\n  {line}\n  {' ' * self.offset}^"


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def parse(source: str) -> Expression:
    """The tree of an expression. Raises InvalidExpression."""
    if len(source) > _MAX_LENGTH:
        raise InvalidExpression(f"it is longer than {_MAX_LENGTH} characters", source=source[:80], offset=0)
    return _Parser(source, _tokens(source)).whole()


def _tokens(source: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while at < len(source):
        match = _TOKEN.match(source, at)
        if match is None:
            what = "a text without its closing quote" if source[at] in "\"'" else f"{source[at]!r} is not understood"
            raise InvalidExpression(what, source=source, offset=at)
        if match.lastgroup != "space":
            tokens.append(_Token(str(match.lastgroup), match.group(), at))
        at = match.end()
    return [*tokens, _Token("end", "", len(source))]


class _Parser:
    def __init__(self, source: str, tokens: list[_Token]) -> None:
        self._source, self._tokens, self._next, self._depth = source, tokens, 0, 0

    def whole(self) -> Expression:
        expression = self._expression()
        if self._peek.kind != "end":
            raise self._unexpected("AND, OR or the end")
        return expression

    def _expression(self) -> Expression:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._refused(f"it is nested more than {_MAX_DEPTH} levels deep")
        operands = self._joined(self._all_of, _OR)
        self._depth -= 1
        return operands[0] if len(operands) == 1 else Or(operands)

    def _all_of(self) -> Expression:
        operands = self._joined(self._not, _AND)
        return operands[0] if len(operands) == 1 else And(operands)

    def _joined(self, operand: Callable[[], Expression], joints: frozenset[str]) -> tuple[Expression, ...]:
        operands = [operand()]
        while self._peek.text in joints:
            self._take()
            operands.append(operand())
        return tuple(operands)

    def _not(self) -> Expression:
        negations = 0
        while self._peek.text in _NOT:
            self._take()
            negations += 1
        operand = self._operand()
        for _ in range(negations):
            operand = Not(operand)
        return operand

    def _operand(self) -> Expression:
        if self._peek.text == "(":
            self._take()
            inner = self._expression()
            self._expect(")")
            return inner
        if self._peek.text in set(Quantifier) and self._after_next.text == "(":
            quantifier = Quantifier(self._take().text)
            self._expect("(")
            test = self._test()
            self._expect(")")
            return Quantified(quantifier, test)
        return self._test()

    def _test(self) -> Comparison | In:
        first = self._name("a condition, such as Available, or an object, such as Job/ns/name:Complete")
        target = self._target(first)
        subject = first if target is None else self._name("a condition or a feedback value of the object")
        if self._peek.text in _COMPARATORS:
            comparator = _COMPARATORS[self._take().text]
            return Comparison(subject, comparator, self._value(), target)
        if self._peek.text == "in":
            self._take()
            return In(subject, self._values(), target)
        return Comparison(subject, Comparator.EQUAL, "True", target)

    def _target(self, kind: str) -> Target | None:
        parts = [kind]
        while self._peek.text == "/":
            self._take()
            parts.append(self._name("a name"))
        if len(parts) > 3:  # noqa: PLR2004 - kind, namespace and name
            raise self._refused("an object is Kind, Kind/name or Kind/namespace/name")
        if self._peek.text != ":":
            if len(parts) > 1:
                raise self._unexpected("a colon and what is asked of the object")
            return None
        self._take()
        namespace = parts[1] if len(parts) == 3 else ""  # noqa: PLR2004 - as above
        return Target(kind=parts[0], name=parts[-1] if len(parts) > 1 else "", namespace=namespace)

    def _values(self) -> tuple[Scalar, ...]:
        self._expect("(")
        values = [self._value()]
        while self._peek.text == ",":
            self._take()
            values.append(self._value())
        self._expect(")")
        return tuple(values)

    def _value(self) -> Scalar:
        token = self._peek
        value: Scalar
        match token.kind:
            case "number":
                value = float(token.text) if "." in token.text else int(token.text)
            case "text":
                value = re.sub(r"\\(.)", r"\1", token.text[1:-1], flags=re.DOTALL)
            case "name" if token.text in {"true", "false"}:
                value = token.text == "true"
            case "name" if token.text not in _KEYWORDS:
                value = token.text
            case _:
                raise self._unexpected("a value")
        self._take()
        return value

    def _name(self, wanted: str) -> str:
        if self._peek.kind not in {"name", "number"} or self._peek.text in _KEYWORDS:
            raise self._unexpected(wanted)
        return self._take().text

    def _expect(self, sign: str) -> None:
        if self._peek.text != sign:
            raise self._unexpected(f"{sign!r}")
        self._take()

    @property
    def _peek(self) -> _Token:
        return self._tokens[self._next]

    @property
    def _after_next(self) -> _Token:
        return self._tokens[min(self._next + 1, len(self._tokens) - 1)]

    def _take(self) -> _Token:
        token = self._peek
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def _unexpected(self, wanted: str) -> InvalidExpression:
        token = self._peek
        found = f"found {token.text!r}" if token.text else "it ends"
        hint = f"; write {token.text.upper()}" if token.text.upper() in _KEYWORDS and not token.text.isupper() else ""
        return self._refused(f"{wanted} is expected, but {found}{hint}")

    def _refused(self, problem: str) -> InvalidExpression:
        return InvalidExpression(problem, source=self._source, offset=self._peek.at)
