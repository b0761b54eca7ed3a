"""A Markdown table from rows."""

from collections.abc import Iterable, Sequence


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(_cell(cell) for cell in line)} |\n" for line in lines)


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def codes(names: Iterable[str]) -> str:
    return ", ".join(code(each) for each in names)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
