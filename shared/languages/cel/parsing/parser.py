"""Tokens to a syntax tree, by precedence climbing.

Precedence, loosest first: `? :`, `||`, `&&`, comparisons and `in`, `+ -`, `* / %`, `! -`, and what follows a value
(`.`, `[ ]`, `( )`). The middle of a conditional is no conditional itself, as in CEL's grammar.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from shared.languages.cel.limits import Limits
from shared.languages.cel.parsing import literals, macros, mistakes
from shared.languages.cel.parsing.lexer import Token, tokens
from shared.languages.cel.parsing.syntax import (
    Call,
    Conditional,
    Element,
    Entry,
    Identifier,
    Index,
    Junction,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
)
from shared.languages.errors import Rejected

_LEVELS: Final = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!=", "in"), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%"), 5),
}
_LOOSEST: Final = 1
_KEYWORDS: Final = {"true": True, "false": False, "null": None}
_RESERVED: Final = frozenset(
    {
        *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "namespace"),
        *("package", "return", "var", "void", "while"),
    }
)
_WORDS: Final = frozenset({*_KEYWORDS, "in"})


def parse(source: str, limits: Limits) -> Node:
    """The tree of a source text, or Rejected."""
    if len(source) > limits.source:
        raise Rejected(f"the expression is longer than {limits.source:,} characters", source=source)
    if not source.strip():
        raise Rejected("the expression is empty", source=source)
    return _Parser(source, limits.depth).whole()


class _Parser:
    def __init__(self, source: str, depth: int) -> None:
        self._source = source
        self._tokens = tokens(source)
        self._position = 0
        self._limit = self._depth_left = depth

    def whole(self) -> Node:
        node = self._expression()
        if self._token.kind != "END":
            raise self._unexpected("the expression should end here")
        return node

    @property
    def _token(self) -> Token:
        return self._tokens[self._position]

    def _next(self) -> Token:
        token = self._tokens[self._position]
        self._position += 1
        return token

    def _take(self, sign: str) -> Token | None:
        """The sign, if it is next."""
        token = self._tokens[self._position]
        if token.kind != "SIGN" or token.text != sign:
            return None
        self._position += 1
        return token

    def _expect(self, sign: str) -> Token:
        token = self._take(sign)
        if token is None:
            raise self._unexpected(f"{sign!r} is missing here")
        return token

    def _descend(self) -> None:
        self._depth_left -= 1
        if self._depth_left < 0:
            raise self._rejected(f"the expression is nested deeper than {self._limit} levels", self._token)

    def _expression(self) -> Node:
        depth = self._depth_left
        self._descend()
        condition = self._binary(_LOOSEST)
        if mark := self._take("?"):
            then = self._binary(_LOOSEST)
            self._expect(":")
            otherwise = self._expression()
            condition = Conditional(
                condition=condition,
                then=then,
                otherwise=otherwise,
                start=condition.start,
                end=otherwise.end,
                at=mark.start,
            )
        self._depth_left = depth
        return condition

    def _level(self) -> int:
        """How tightly the next token binds as an operator; 0 when it is none."""
        token = self._tokens[self._position]
        return _LEVELS.get(token.text, 0) if token.kind in {"SIGN", "NAME"} else 0

    def _binary(self, loosest: int) -> Node:
        """A chain of operators is no nesting, however long it is: what evaluates it goes from left to right."""
        left = self._unary()
        while (level := self._level()) >= loosest:
            sign = self._next()
            if sign.text in {"||", "&&"}:
                left = self._junction(left, sign, level)
                continue
            right = self._binary(level + 1)
            left = Call(
                function=f"_{sign.text}_", arguments=(left, right), start=left.start, end=right.end, at=sign.start
            )
        return left

    def _junction(self, first: Node, sign: Token, level: int) -> Node:
        terms = [first, self._binary(level + 1)]
        while self._take(sign.text):
            terms.append(self._binary(level + 1))
        return Junction(
            terms=tuple(terms), decisive=sign.text == "||", start=first.start, end=terms[-1].end, at=sign.start
        )

    def _unary(self) -> Node:
        first = self._token
        signs = 0
        if first.text in {"!", "-"} and not self._at_negative_number():
            while self._take(first.text):
                signs += 1
        operand = self._postfix(self._primary())
        if signs % 2 == 0:
            return operand
        return Call(function=f"{first.text}_", arguments=(operand,), start=first.start, end=operand.end, at=first.start)

    def _at_negative_number(self) -> bool:
        return self._token.text == "-" and self._tokens[self._position + 1].kind in {"INT", "DOUBLE"}

    def _postfix(self, node: Node) -> Node:
        depth = self._depth_left
        while True:
            if self._take("."):
                node = self._member(node)
            elif bracket := self._take("["):
                optional = self._take("?") is not None
                key = self._expression()
                end = self._expect("]").end
                node = Index(operand=node, key=key, optional=optional, start=node.start, end=end, at=bracket.start)
            else:
                break
            self._descend()
        self._depth_left = depth
        return node

    def _member(self, target: Node) -> Node:
        optional = self._take("?") is not None
        name = self._next()
        if name.kind == "QUOTED_NAME" or (name.kind == "NAME" and name.text not in _WORDS):
            if name.kind == "NAME" and not optional and self._take("("):
                arguments = self._arguments()
                return self._call(name, target, arguments)
            field = name.text.strip("`")
            return Select(
                operand=target, field=field, optional=optional, start=target.start, end=name.end, at=name.start
            )
        self._position -= 1
        hint = f'{name.text} is a keyword of CEL: write ["{name.text}"] for the field' if name.text in _WORDS else None
        raise self._unexpected("a field or function should follow the dot", hint)

    def _arguments(self) -> tuple[Node, ...]:
        if self._take(")"):
            return ()
        arguments = [self._expression()]
        while self._take(","):
            arguments.append(self._expression())
        self._expect(")")
        return tuple(arguments)

    def _call(self, name: Token, target: Node | None, arguments: tuple[Node, ...], *, rooted: bool = False) -> Node:
        call = Call(
            function=name.text,
            target=target,
            arguments=arguments,
            start=target.start if target else name.start,
            end=self._tokens[self._position - 1].end,
            at=name.start,
        )
        try:
            return call if rooted else macros.expand(call)
        except macros.Misused as problem:
            raise Rejected(problem.problem, source=self._source, offset=problem.node.at, hint=problem.hint) from None

    def _primary(self) -> Node:
        token = self._token
        match token.kind:
            case "NAME":
                return self._name(rooted=False)
            case "INT" | "UINT" | "DOUBLE" | "STRING" | "BYTES":
                return self._constant(token)
        if self._at_negative_number():
            return self._negative_number(self._next())
        if self._take("("):
            node = self._expression()
            return replace(node, start=token.start, end=self._expect(")").end)
        if self._take("["):
            return self._list(token)
        if self._take("{"):
            return self._map(token)
        if token.text == "." and self._tokens[self._position + 1].kind == "NAME":
            self._next()
            return self._name(rooted=True)
        raise self._unexpected("a value is missing here")

    def _name(self, *, rooted: bool) -> Node:
        name = self._next()
        if name.text in _KEYWORDS and not rooted:
            return Literal(value=_KEYWORDS[name.text], start=name.start, end=name.end, at=name.start)
        if name.text in _RESERVED or name.text in _WORDS:
            hint = mistakes.name(name.text, ())
            raise self._rejected(f"{name.text} is a reserved word and cannot be a name", name, hint)
        if self._take("("):
            return self._call(name, None, self._arguments(), rooted=rooted)
        if self._token.text == "{" and self._token.kind == "SIGN":
            raise self._rejected(f"messages such as {name.text}{{...}} do not exist here", name, "write a map: {...}")
        return Identifier(name=name.text, rooted=rooted, start=name.start, end=name.end, at=name.start)

    def _constant(self, token: Token) -> Node:
        self._next()
        try:
            value = _VALUES[token.kind](token.text)
        except literals.LiteralError as problem:
            raise self._rejected(str(problem), token) from None
        return Literal(value=value, start=token.start, end=token.end, at=token.start)

    def _negative_number(self, minus: Token) -> Node:
        token = self._next()
        read = literals.int_value if token.kind == "INT" else literals.double_value
        try:
            value = read(token.text, negative=True)
        except literals.LiteralError as problem:
            raise self._rejected(str(problem), token) from None
        return Literal(value=value, start=minus.start, end=token.end, at=token.start)

    def _list(self, opening: Token) -> Node:
        elements: list[Element] = []
        while self._more_before("]", first=not elements):
            optional = self._take("?") is not None
            elements.append(Element(value=self._expression(), optional=optional))
        end = self._expect("]").end
        return ListLiteral(elements=tuple(elements), start=opening.start, end=end, at=opening.start)

    def _map(self, opening: Token) -> Node:
        entries: list[Entry] = []
        while self._more_before("}", first=not entries):
            optional = self._take("?") is not None
            key = self._expression()
            self._expect(":")
            entries.append(Entry(key=key, value=self._expression(), optional=optional))
        end = self._expect("}").end
        return MapLiteral(entries=tuple(entries), start=opening.start, end=end, at=opening.start)

    def _more_before(self, closing: str, *, first: bool) -> bool:
        """Whether another item follows; a comma may end the items, and may be all there is."""
        comma = self._take(",") is not None
        return self._token.text != closing and (first != comma)

    def _unexpected(self, problem: str, hint: str | None = None) -> Rejected:
        token = self._token
        before = self._tokens[self._position - 1].text if self._position else ""
        met = f", not {token.text}" if token.text else ""
        hint = hint or mistakes.unexpected(self._source, token.text, token.start, before)
        return self._rejected(problem + met, token, hint)

    def _rejected(self, problem: str, token: Token, hint: str | None = None) -> Rejected:
        return Rejected(problem, source=self._source, offset=token.start, hint=hint)


_VALUES: Final[dict[str, Callable[[str], Any]]] = {
    "INT": literals.int_value,
    "UINT": literals.uint_value,
    "DOUBLE": literals.double_value,
    "STRING": literals.string_value,
    "BYTES": literals.bytes_value,
}
