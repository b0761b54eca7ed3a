"""The parser's place among the tokens: looking ahead, stepping back, and saying what was not expected there."""

from shared.languages.errors import Rejected
from shared.languages.gotemplate.limits import MAX_TOKENS
from shared.languages.gotemplate.parsing import mistakes, syntax
from shared.languages.gotemplate.parsing.lexer import Kind, Token, tokenize


class Cursor:
    def __init__(self, source: str) -> None:
        self.source = source
        self._feed = tokenize(source)
        self._tokens: list[Token] = []
        self._index = 0

    def peek(self) -> Token:
        if self._index == len(self._tokens):
            self._tokens.append(next(self._feed))
            if self._index >= MAX_TOKENS:
                raise self.rejected(f"the template has more than {MAX_TOKENS} tokens", self._tokens[-1])
        return self._tokens[self._index]

    def next(self) -> Token:
        token = self.peek()
        self._index += 1
        return token

    def next_word(self) -> Token:
        """The next token that is not a space."""
        token = self.next()
        return self.next() if token.kind is Kind.SPACE else token

    def peek_word(self) -> Token:
        token = self.next_word()
        self.back_to(token)
        return token

    def back_to(self, token: Token) -> None:
        while self._tokens[self._index - 1] is not token:
            self._index -= 1
        self._index -= 1

    @property
    def last_end(self) -> int:
        return self._tokens[self._index - 1].end

    def opened_keyword(self, *words: str, consume: bool = True) -> Token | None:
        """The keyword, if the next thing is an action that starts with one of these."""
        mark = self._index
        if self.next().kind is Kind.OPEN:
            keyword = self.next_word()
            if keyword.kind is Kind.KEYWORD and keyword.text in words:
                self._index = self._index if consume else mark
                return keyword
        self._index = mark
        return None

    def close(self, context: str) -> None:
        token = self.next_word()
        if token.kind is not Kind.CLOSE:
            raise self.unexpected(token, context)

    def rejected(self, problem: str, at: Token | syntax.Node, hint: str | None = None) -> Rejected:
        return Rejected(problem, source=self.source, offset=at.start, hint=hint)

    def unexpected(self, token: Token, context: str) -> Rejected:
        hint = mistakes.operator(token.text) if token.kind in {Kind.CHARACTER, Kind.ASSIGN} else None
        if token.kind is Kind.LEFT:
            hint = "arguments follow after a space: {{ upper .name }} or {{ .name | upper }}"
        return self.rejected(f"unexpected {token.text.strip()!r} in {context}", token, hint)
