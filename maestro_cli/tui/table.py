"""A table of many rows, of which a repaint costs no more than those that are seen.

textual's own DataTable renders every visible cell anew whenever one row changes, which takes a tenth of a second of CPU
on a large screen. Here a line is a string, and its row's key keeps it in order.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from maestro_cli.tui.rows import Row, next_match

_HEADER_LINES = 1


class RowTable(ScrollView, can_focus=True):
    """Rows by their keys, a header that stays, and a cursor that stays on its row when others come and go."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"row-table--header", "row-table--cursor"}
    DEFAULT_CSS = """
    RowTable { overflow-x: hidden; }
    RowTable > .row-table--header { text-style: bold; color: $accent; }
    RowTable > .row-table--cursor { background: $primary-darken-1; text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("up,k", "move(-1)"),
        ("down,j", "move(1)"),
        ("pageup", "page(-1)"),
        ("pagedown", "page(1)"),
        ("home,g", "edge(False)"),
        ("end,G", "edge(True)"),
    ]

    class Highlighted(Message):
        """The cursor is on another row, or its row has changed."""

    def __init__(self, header: Sequence[str], *, id: str) -> None:  # noqa: A002 - textual's name
        super().__init__(id=id)
        self._header = tuple(header)
        self._keys: list[str] = []
        self._rows: dict[str, Row] = {}
        self._widths = [len(each) for each in header]
        self._cursor = 0

    @property
    def keys(self) -> list[str]:
        return list(self._keys)

    @property
    def chosen(self) -> str:
        """The key of the row under the cursor, "" where there is none."""
        return self._keys[self._cursor] if self._keys else ""

    def show(self, rows: Iterable[Row]) -> None:
        """These rows, sorted by their keys, instead of all others."""
        chosen = self.chosen
        self._rows = {each.key: each for each in rows}
        self._keys = list(self._rows)
        self._widths = [max(map(len, column)) for column in zip(self._header, *self._cells(), strict=True)]
        self._resized(chosen)

    def put(self, row: Row) -> None:
        """Add a row at its place, or change it."""
        known, chosen = row.key in self._rows, self.chosen
        self._rows[row.key] = row
        self._widths = [max(width, len(cell)) for width, cell in zip(self._widths, row.cells, strict=True)]
        if known:
            self._repaint(highlighted=row.key == chosen)
            return
        self._keys.insert(bisect_left(self._keys, row.key), row.key)
        self._resized(chosen)

    def take_out(self, key: str) -> None:
        if self._rows.pop(key, None) is not None:
            chosen = self.chosen
            del self._keys[bisect_left(self._keys, key)]
            self._resized(chosen)

    def choose(self, key: str) -> None:
        """Put the cursor on that row."""
        self._move_to(bisect_left(self._keys, key))

    def choose_next(self, text: str) -> bool:
        """Put the cursor on the next row that contains the text; False where there is none."""
        place = next_match([self._rows[key] for key in self._keys], self._cursor, text)
        if place is not None:
            self._move_to(place)
        return place is not None

    def render_line(self, y: int) -> Strip:
        if y < _HEADER_LINES:
            return self._line(self._header, self.get_component_rich_style("row-table--header"))
        index = self.scroll_offset.y + y - _HEADER_LINES
        if index >= len(self._keys):
            return Strip.blank(self.size.width, self.rich_style)
        is_cursor = index == self._cursor
        style = self.get_component_rich_style("row-table--cursor") if is_cursor else self.rich_style
        return self._line(self._rows[self._keys[index]].cells, style)

    def action_move(self, by: int) -> None:
        self._move_to(self._cursor + by)

    def action_page(self, direction: int) -> None:
        self._move_to(self._cursor + direction * max(1, self._lines - 1))

    def action_edge(self, last: bool) -> None:  # noqa: FBT001 - textual passes a binding's argument by position
        self._move_to(len(self._keys) if last else 0)

    @property
    def _lines(self) -> int:
        return max(1, self.size.height - _HEADER_LINES)

    def _cells(self) -> Iterable[tuple[str, ...]]:
        return (each.cells for each in self._rows.values())

    def _line(self, cells: Sequence[str], style: Style) -> Strip:
        text = "  ".join(cell.ljust(width) for cell, width in zip(cells, self._widths, strict=True))
        return Strip([Segment(text, style)], len(text)).adjust_cell_length(self.size.width, style)

    def _resized(self, chosen: str) -> None:
        self.virtual_size = Size(self.size.width, len(self._keys) + _HEADER_LINES)
        self._cursor = min(bisect_left(self._keys, chosen), max(0, len(self._keys) - 1))
        self._repaint(highlighted=self.chosen != chosen)

    def _move_to(self, index: int) -> None:
        self._cursor = min(max(0, index), max(0, len(self._keys) - 1))
        first, lines = self.scroll_offset.y, self._lines
        if not first <= self._cursor < first + lines:
            top = self._cursor if self._cursor < first else self._cursor - lines + 1
            self.scroll_to(y=top, animate=False, immediate=True)
        self._repaint(highlighted=True)

    def _repaint(self, *, highlighted: bool) -> None:
        self.refresh()
        if highlighted:
            self.post_message(self.Highlighted())
