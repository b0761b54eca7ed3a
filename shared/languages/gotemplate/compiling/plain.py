"""Templates of nothing but text and variables, `zone-{{ .id }}`: most of an adapter's. They need no machinery.

A value that is neither a text nor an ordinary integer, and everything that fails, is left to the compiled template.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from shared.languages.gotemplate.limits import MAX_TEXT
from shared.languages.gotemplate.parsing import syntax
from shared.languages.gotemplate.runtime.values import printable

_MAX_INT = 2**63


class Piece(NamedTuple):
    """A text, or the name of a variable."""

    text: str
    name: str


def plain_pieces(body: syntax.Body) -> tuple[Piece, ...] | None:
    """None where the template has more than text and variables."""
    pieces = tuple(_piece(step) for step in body.steps)
    return None if None in pieces else pieces  # type: ignore[return-value]  # mypy does not narrow the elements


def _piece(step: syntax.Step) -> Piece | None:
    match step:
        case syntax.Text(text=text):
            return Piece(text, "")
        case syntax.Output(
            pipeline=syntax.Pipeline(
                targets=(),
                commands=(
                    syntax.Command(operands=(syntax.Fields(base=syntax.Dot(), chain=(syntax.Field(name=name),)),)),
                ),
            )
        ):
            return Piece("", name)
    return None


def render_plain(pieces: tuple[Piece, ...], variables: Mapping[str, Any]) -> str | None:
    """None where the compiled template has to do it."""
    if len(pieces) == 1 and (name := pieces[0].name) and type(only := variables.get(name)) is str:
        return printable(only) if len(only) <= MAX_TEXT else None
    texts = []
    for text, name in pieces:
        if not name:
            texts.append(text)
            continue
        value: Any = variables.get(name)
        kind = type(value)
        if kind is str:
            texts.append(value)
        elif kind is int and -_MAX_INT <= value < _MAX_INT:
            texts.append(str(value))
        else:
            return None
    rendered = "".join(texts)
    return printable(rendered) if len(rendered) <= MAX_TEXT else None
