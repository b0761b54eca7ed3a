"""From tokens to the syntax tree of a template; whatever Go's parser refuses is refused here, with a place and a hint.

Two mistakes that Go finds only when the action is reached are found here as well, because they can never succeed:
assigning with `=` to a variable that was not declared, and using a variable of another branch.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from shared.languages.errors import Rejected
from shared.languages.gotemplate.functions.quoting import unquote
from shared.languages.gotemplate.limits import MAX_SOURCE
from shared.languages.gotemplate.parsing import mistakes, syntax
from shared.languages.gotemplate.parsing.expressions import Expressions
from shared.languages.gotemplate.parsing.lexer import Kind, Token

_BLOCK_END = "{{ end }}"


def parse(source: str, functions: Collection[str], variables: Collection[str] = ()) -> syntax.Tree:
    """`variables` only serve the hints."""
    if len(source) > MAX_SOURCE:
        raise Rejected(f"the template is longer than {MAX_SOURCE} characters", source=source)
    try:
        return _Parser(source, functions, variables).tree()
    except Rejected as mistake:
        mistake.hint = mistakes.in_source(source, mistake.hint)
        raise


class _Parser(Expressions):
    """Blocks and bodies; `Expressions` holds the tokens and reads what stands inside an action."""

    def __init__(self, source: str, functions: Collection[str], variables: Collection[str]) -> None:
        super().__init__(source, functions, variables)
        self._definitions: dict[str, syntax.Definition] = {}
        self._loops = 0

    def tree(self) -> syntax.Tree:
        steps = []
        while self.peek().kind is not Kind.END:
            define = self.opened_keyword("define")
            if define is not None:
                self._define(define)
            else:
                steps.append(self._step())
        body = syntax.Body(0, len(self.source), tuple(steps))
        self._add(syntax.MAIN, syntax.Definition(body, self.slots), self.peek())
        return syntax.Tree(self.source, self._definitions, frozenset(self.called))

    def _add(self, name: str, definition: syntax.Definition, at: Token) -> None:
        known = self._definitions.get(name)
        if known is None or known.empty:
            self._definitions[name] = definition
        elif not definition.empty:
            raise self.rejected(f"template {name!r} is defined twice", at)

    def _define(self, keyword: Token) -> None:
        name = self._template_name("define")
        self.close("define")
        with self.nested(keyword):
            self._definition(name, keyword)

    def _definition(self, name: str, opener: Token) -> None:
        """The body of a named template: it sees none of the variables and loops around it."""
        outer, self._loops = self._loops, 0
        with self.fresh_variables():
            body = self._body(opener)
            self._end(opener)
            self._add(name, syntax.Definition(body, self.slots), opener)
        self._loops = outer

    def _body(self, opener: Token) -> syntax.Body:
        """Everything up to the {{ end }} or {{ else }} of the block, which stays unread."""
        start = self.peek().start
        steps = []
        with self.scope():
            while self.opened_keyword("end", "else", consume=False) is None:
                if self.peek().kind is Kind.END:
                    raise self.rejected(
                        f"the block {opener.text!r} is never closed", opener, hint=f"add {_BLOCK_END} where it ends"
                    )
                steps.append(self._step())
        return syntax.Body(start, self.peek().start, tuple(steps))

    def _end(self, opener: Token) -> None:
        keyword = self.opened_keyword("end", "else")
        assert keyword is not None
        if keyword.text == "else":
            raise self.rejected(f"a second {{{{ else }}}}, or one that {opener.text!r} cannot have", keyword)
        self.close("end")

    def _step(self) -> syntax.Step:
        token = self.next()
        if token.kind is Kind.TEXT:
            return syntax.Text(token.start, token.end, token.text)
        word = self.next_word()
        if word.kind is not Kind.KEYWORD:
            self.back_to(word)
            pipeline = self.pipeline("the action", Kind.CLOSE)
            return syntax.Output(pipeline.start, pipeline.end, pipeline)
        match word.text:
            case "if" | "with":
                return self._choice(word)
            case "range":
                return self._range(word)
            case "template":
                return self._template(word)
            case "block":
                return self._block(word)
            case "break" | "continue":
                return self._jump(word)
        raise self.rejected(
            f"unexpected {{{{ {word.text} }}}}",
            word,
            hint="definitions stand outside of all blocks" if word.text == "define" else "it belongs to no open block",
        )

    def _choice(self, word: Token) -> syntax.If | syntax.With:
        """`if` and `with`, with all their `else if` and `else with`; what one declares is in scope to the end."""
        branches = []
        otherwise = None
        with self.nested(word), self.scope():
            branches.append(self._branch(word))
            while (alternative := self.opened_keyword("else", "end")) is not None and alternative.text == "else":
                following = self.next_word()
                if following.kind is Kind.KEYWORD and following.text == word.text:
                    branches.append(self._branch(word))
                    continue
                self.back_to(following)
                self.close("else")
                otherwise = self._body(word)
                self._end(word)
                break
            else:
                self.close("end")
        node = syntax.If if word.text == "if" else syntax.With
        return node(word.start, self.last_end, tuple(branches), otherwise)

    def _branch(self, word: Token) -> syntax.Branch:
        condition = self.pipeline(word.text, Kind.CLOSE)
        body = self._body(word)
        return syntax.Branch(condition.start, condition.end, condition, body)

    def _range(self, word: Token) -> syntax.Range:
        otherwise = None
        with self.nested(word), self.scope():
            pipeline = self.pipeline("range", Kind.CLOSE)
            with self._in_loop():
                body = self._body(word)
            if self.opened_keyword("else") is not None:
                self.close("else")
                otherwise = self._body(word)
            self._end(word)
        return syntax.Range(pipeline.start, pipeline.end, pipeline, body, otherwise)

    @contextmanager
    def _in_loop(self) -> Iterator[None]:
        self._loops += 1
        yield
        self._loops -= 1

    def _jump(self, word: Token) -> syntax.Break | syntax.Continue:
        self.close(word.text)
        if not self._loops:
            raise self.rejected(f"{{{{ {word.text} }}}} outside of a range", word)
        return (syntax.Break if word.text == "break" else syntax.Continue)(word.start, word.end)

    def _template(self, word: Token) -> syntax.Invoke:
        name = self._template_name("template")
        argument = None
        if self.peek_word().kind is not Kind.CLOSE:
            argument = self.pipeline("template", Kind.CLOSE)
        else:
            self.close("template")
        return syntax.Invoke(word.start, self.last_end, name, argument)

    def _block(self, word: Token) -> syntax.Invoke:
        name = self._template_name("block")
        argument = self.pipeline("block", Kind.CLOSE)
        with self.nested(word):
            self._definition(name, word)
        return syntax.Invoke(word.start, argument.end, name, argument)

    def _template_name(self, context: str) -> str:
        token = self.next_word()
        if token.kind is not Kind.STRING:
            raise self.unexpected(token, f"{context}; it needs a name in quotes")
        try:
            return unquote(token.text)
        except ValueError as problem:
            raise self.rejected(str(problem), token) from None
