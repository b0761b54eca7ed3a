"""The inside of an action: pipelines, commands, operands, and which variables are alive there."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from shared.languages.gotemplate.functions.quoting import unquote
from shared.languages.gotemplate.limits import MAX_NESTING, MAX_VARIABLES
from shared.languages.gotemplate.parsing import mistakes, syntax
from shared.languages.gotemplate.parsing.cursor import Cursor
from shared.languages.gotemplate.parsing.lexer import Kind, Token
from shared.languages.gotemplate.parsing.literals import BadNumber, number

_OPERAND_STARTS = frozenset({
    Kind.BOOL, Kind.DOT, Kind.FIELD, Kind.IDENTIFIER, Kind.NUMBER, Kind.NIL, Kind.STRING, Kind.VARIABLE, Kind.LEFT,
})  # fmt: skip
_MAX_TARGETS = 2
SHORT_CIRCUIT = frozenset({"and", "or"})
"""The functions that stop at the first argument that decides."""


class _Scope:
    """The variables alive at one place, the innermost last; a name declared again hides the outer one."""

    def __init__(self) -> None:
        self.names = ["$"]
        self.slots: dict[str, list[int]] = {"$": [0]}
        self.most = 1

    def declare(self, name: str) -> int:
        slot = len(self.names)
        self.names.append(name)
        self.slots.setdefault(name, []).append(slot)
        self.most = max(self.most, len(self.names))
        return slot

    def forget(self, alive: int) -> None:
        while len(self.names) > alive:
            self.slots[self.names.pop()].pop()


class Expressions(Cursor):
    def __init__(self, source: str, functions: Collection[str], variables: Collection[str]) -> None:
        super().__init__(source)
        self.called: set[str] = set()
        self._functions = functions
        self._variables = variables
        self._scope = _Scope()
        self._level = 0

    @contextmanager
    def nested(self, at: Token) -> Iterator[None]:
        self._level += 1
        if self._level > MAX_NESTING:
            raise self.rejected(f"more than {MAX_NESTING} blocks and parentheses inside each other", at)
        yield
        self._level -= 1

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is declared inside is forgotten behind it."""
        alive = len(self._scope.names)
        yield
        self._scope.forget(alive)

    @contextmanager
    def fresh_variables(self) -> Iterator[None]:
        outer, self._scope = self._scope, _Scope()
        yield
        self._scope = outer

    @property
    def slots(self) -> int:
        return self._scope.most

    def _declare(self, token: Token) -> syntax.Variable:
        if len(self._scope.names) >= MAX_VARIABLES:
            raise self.rejected(f"more than {MAX_VARIABLES} variables at once", token)
        return syntax.Variable(token.start, token.end, token.text, self._scope.declare(token.text))

    def _variable(self, token: Token, hint: str | None = None) -> syntax.Variable:
        slots = self._scope.slots.get(token.text)
        if slots:
            return syntax.Variable(token.start, token.end, token.text, slots[-1])
        near = mistakes.nearest(token.text, self._scope.names[1:])
        hint = f"did you mean {near}?" if near else hint
        raise self.rejected(f"undefined variable {token.text}", token, hint)

    def pipeline(self, context: str, closing: Kind) -> syntax.Pipeline:
        """`context` names the surrounding construct in messages; a range may declare two variables."""
        start = self.peek_word().start
        names, operator = self._targets(context)
        commands = []
        while (token := self.next_word()).kind is not closing:
            if token.kind not in _OPERAND_STARTS:
                raise self.unexpected(token, context)
            self.back_to(token)
            commands.append(self._command())
        if not commands:
            raise self.rejected(f"missing value for {context}", token)
        for command in commands[1:]:
            if isinstance(command.operands[0], syntax.Literal | syntax.Nil | syntax.Dot):
                raise self.rejected("only a function can stand behind |", command, "did you mean | default …?")
        if operator is Kind.ASSIGN:
            hint = "a variable is declared with := and changed with ="
            targets = tuple(self._variable(name, hint) for name in names)
        else:
            targets = tuple(self._declare(name) for name in names)
        return syntax.Pipeline(start, commands[-1].end, targets, tuple(commands))

    def _targets(self, context: str) -> tuple[list[Token], Kind]:
        """The variables in front of `:=` or `=`, which this consumes."""
        names: list[Token] = []
        while (name := self.peek_word()).kind is Kind.VARIABLE:
            self.next_word()
            following = self.next_word()
            if following.kind in {Kind.ASSIGN, Kind.DECLARE}:
                return [*names, name], following.kind
            if following.kind is Kind.VARIABLE and context == "range":
                raise self.unexpected(following, "range; a comma separates two variables")
            if following.text != ",":
                self.back_to(name)
                break
            names.append(name)
            if context != "range" or len(names) == _MAX_TARGETS:
                raise self.rejected(f"too many variables in {context}", name)
            if self.peek_word().kind not in {Kind.VARIABLE, Kind.CLOSE, Kind.RIGHT}:
                raise self.unexpected(self.peek_word(), "range; a variable must follow the comma")
        return names, Kind.DECLARE

    def _command(self) -> syntax.Command:
        operands: list[syntax.Operand] = []
        alive = len(self._scope.names)
        while True:
            operand = self._operand()
            if operand is not None:
                operands.append(operand)
            token = self.next()
            if token.kind is Kind.SPACE:
                continue
            if token.kind in {Kind.CLOSE, Kind.RIGHT}:
                self.back_to(token)
            elif token.kind is not Kind.PIPE:
                raise self.unexpected(token, "an operand")
            break
        command = syntax.Command(operands[0].start, operands[-1].end, tuple(operands))
        if command.function in SHORT_CIRCUIT and len(self._scope.names) > alive:
            raise self.rejected(f"a variable declared inside {command.function} may never be set", command)
        return command

    def _operand(self) -> syntax.Operand | None:
        """A term and the fields attached to it; None if the next token starts no term."""
        token = self.peek_word()
        if token.kind not in _OPERAND_STARTS:
            return None
        self.next_word()
        if token.kind is Kind.FIELD:
            self.back_to(token)
            base: syntax.Operand = syntax.Dot(token.start, token.start)
        else:
            base = self._term(token)
        chain = []
        while self.peek().kind is Kind.FIELD:
            field = self.next()
            chain.append(syntax.Field(field.start, field.end, field.text[1:]))
        if not chain:
            return base
        if isinstance(base, syntax.Literal | syntax.Nil) or token.kind is Kind.DOT:
            raise self.rejected(f"unexpected . behind {token.text}", chain[0])
        assert not isinstance(base, syntax.Fields)
        return syntax.Fields(base.start, chain[-1].end, base, tuple(chain))

    def _term(
        self, token: Token
    ) -> syntax.Literal | syntax.Nil | syntax.Dot | syntax.Variable | syntax.Function | syntax.Pipeline:
        start, end, text = token.start, token.end, token.text
        match token.kind:
            case Kind.DOT:
                return syntax.Dot(start, end)
            case Kind.NIL:
                return syntax.Nil(start, end)
            case Kind.BOOL:
                return syntax.Literal(start, end, text == "true")
            case Kind.VARIABLE:
                return self._variable(token)
            case Kind.IDENTIFIER:
                return self._function(token)
            case Kind.LEFT:
                return self._parenthesis(token)
        try:
            value = unquote(text) if token.kind is Kind.STRING else number(text)
        except BadNumber as problem:
            hint = 'a text stands in double quotes: "…"' if text.startswith("'") else mistakes.operator(text[:1])
            raise self.rejected(str(problem), token, hint) from None
        except ValueError as problem:
            raise self.rejected(str(problem), token) from None
        return syntax.Literal(start, end, value)

    def _function(self, token: Token) -> syntax.Function:
        if token.text not in self._functions:
            hint = mistakes.function(token.text, self._functions, self._variables)
            raise self.rejected(f"function {token.text!r} is not defined", token, hint)
        self.called.add(token.text)
        return syntax.Function(token.start, token.end, token.text)

    def _parenthesis(self, opening: Token) -> syntax.Pipeline:
        with self.nested(opening):
            inner = self.pipeline("parentheses", Kind.RIGHT)
        return syntax.Pipeline(opening.start, self.last_end, inner.targets, inner.commands)
