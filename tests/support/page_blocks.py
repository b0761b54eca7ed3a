"""The fenced blocks of pages, and the commands in them."""

import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCED = re.compile(r"^(?P<indent> *)```(?P<kind>[^\n`]*)\n(?P<content>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
_HEREDOC = re.compile(r"<<(\w+)\n.*?^\1$", re.MULTILINE | re.DOTALL)
_OPERATORS = frozenset({"|", "||", "&", "&&", ";", "(", ")"})
_REDIRECTIONS = frozenset({">", ">>", "<", ">&", "<<<"})
_KEYWORDS = frozenset({"do", "done", "then", "else", "if", "while", "until", "exec", "$"})
_ASSIGNMENT = re.compile(r"\w+=.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PageBlock:
    """`kind` is what follows the fence: `sh`, `sh server`, `yaml`."""

    page: str
    line: int
    kind: str
    content: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(page: Path, root: Path) -> Iterator[PageBlock]:
    text = page.read_text(encoding="utf-8")
    for found in _FENCED.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield PageBlock(str(page.relative_to(root)), line, found["kind"], textwrap.dedent(found["content"]))


def commands_of(script: str) -> Iterator[list[str]]:
    """Each simple command of a script, as a shell would split it; variables are left as they are written."""
    waiting = ""
    for line in _HEREDOC.sub("", script.replace("\\\n", " ")).splitlines(keepends=True):
        waiting += line
        try:
            tokens = _tokens(waiting)
        except ValueError:
            continue  # a quoted text goes on in the next line
        yield from _simple_commands(tokens)
        waiting = ""
    assert not waiting, f"a quote is not closed: {waiting}"


def _tokens(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    return list(lexer)


def _simple_commands(tokens: list[str]) -> Iterator[list[str]]:
    command: list[str] = []
    rest = iter(tokens)
    for token in rest:
        if token in _OPERATORS:
            if command:
                yield command
            command = []
        elif token in _REDIRECTIONS:
            next(rest, None)
        elif command or not (token in _KEYWORDS or _ASSIGNMENT.fullmatch(token)):
            command.append(token)
    if command:
        yield command
