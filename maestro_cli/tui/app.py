"""The application: three panes, fed by Maestro's status stream.

A worker follows the works of the chosen consumer and changes only the rows that changed; nothing polls.
"""

import gc
from collections.abc import Awaitable, Sequence
from contextlib import aclosing
from typing import ClassVar

import yaml
from textual import work as worker
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import DataTable, Footer, Header, Input, Static

from maestro_cli.changes.comparing import compare
from maestro_cli.changes.merging import remember
from maestro_cli.commands.works.applying import planned, stored_work
from maestro_cli.documents.reading import read_documents
from maestro_cli.documents.works import works_of
from maestro_cli.output.describing import describe
from maestro_cli.output.differences import show
from maestro_cli.tui.dialogs import Ask, Confirm, Show
from maestro_cli.tui.rows import HEADER, Row, row_of, visible
from maestro_cli.tui.table import RowTable
from shared.errors import HyperFleetError, NotFound
from shared.maestro import Change, MaestroClient, WorkEvent
from shared.model.manifestwork import ManifestWork


class MaestroApp(App[None]):
    """Consumers on the left, works in the middle, the chosen work on the right."""

    TITLE = "maestro-cli"
    CSS = """
    #consumers { width: 24; border: round $primary; }
    #middle { width: 1fr; }
    #works { border: round $primary; height: 1fr; }
    #filter { display: none; }
    #filter.shown { display: block; }
    #detail { width: 1fr; border: round $primary; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("slash", "filter", "filter"),
        ("s", "search", "search"),
        ("n", "search_next", "next match"),
        ("y", "toggle_yaml", "YAML"),
        ("c", "compare", "diff with a file"),
        ("a", "apply", "apply a file"),
        ("d", "delete", "delete"),
        ("tab", "focus_next", "next pane"),
        ("q", "quit", "quit"),
    ]

    def __init__(self, client: MaestroClient, consumer: str = "", writer: str = "") -> None:
        super().__init__()
        self._client = client
        self._writer = writer
        self._consumer = consumer
        self._works: dict[str, ManifestWork] = {}
        self._rows: dict[str, Row] = {}
        self._detailed: ManifestWork | None = None
        self._filter = ""
        self._sought = ""
        self._as_yaml = False
        # Kept, because a query would look in a dialog while one is open.
        self._consumers: DataTable[str] = DataTable(id="consumers", cursor_type="row")
        self._table = RowTable(HEADER, id="works")
        self._text = Static(id="text", markup=False)

    def compose(self) -> ComposeResult:
        yield Header(show_clock=False)
        with Horizontal():
            yield self._consumers
            with Vertical(id="middle"):
                yield Input(placeholder="filter by name, state or label", id="filter")
                yield self._table
            with VerticalScroll(id="detail"):
                yield self._text
        yield Footer()

    async def on_mount(self) -> None:
        self._consumers.add_column("CONSUMER")
        await self._load_consumers()
        self._table.focus()

    async def _load_consumers(self) -> None:
        try:
            names = sorted(each.name for each in await self._client.consumers.list())
        except HyperFleetError as error:
            self._show_detail(str(error))
            return
        for name in names:
            self._consumers.add_row(name, key=name)
        if self._consumer not in names and names:
            self._consumer = names[0]
        if self._consumer in names:
            self._consumers.move_cursor(row=names.index(self._consumer))
            self._follow(self._consumer)

    @worker(exclusive=True, group="follow")
    async def _follow(self, consumer: str) -> None:
        """Show the works of a consumer from now on; the worker before it ends."""
        self._consumer = consumer
        self.sub_title = consumer
        self._works.clear()
        self._rows.clear()
        self._table.show([])
        try:
            async with aclosing(self._client.works(consumer).watch()) as events:
                gc.unfreeze()
                async for event in events:
                    if not self._works:
                        # Looking for garbage in all that is listed would hold up a repaint by a tenth of a second.
                        self.call_after_refresh(gc.freeze)
                    self._take(event)
        except HyperFleetError as error:
            self._show_detail(str(error))

    def _take(self, event: WorkEvent) -> None:
        if event.change is Change.DELETED:
            self._works.pop(event.work.name, None)
            self._refresh_row(event.work.name)
        else:
            self._keep(event.work)

    def _keep(self, work: ManifestWork) -> None:
        self._works[work.name] = work
        self._refresh_row(work.name)

    def _refresh_row(self, name: str) -> None:
        self._rows.pop(name, None)
        if name in self._works:
            self._rows[name] = row_of(self._works[name])
        if name in self._rows and visible([self._rows[name]], self._filter):
            self._table.put(self._rows[name])
        else:
            self._table.take_out(name)

    def _refresh_all(self) -> None:
        self._table.show(visible(self._rows.values(), self._filter))

    @property
    def works_shown(self) -> list[str]:
        return self._table.keys

    @property
    def chosen(self) -> str:
        """The name of the work under the cursor, "" where there is none."""
        return self._table.chosen

    def on_row_table_highlighted(self) -> None:
        work = self._works.get(self.chosen)
        if work is not self._detailed:
            self._show_chosen()

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        if event.row_key.value:
            self._follow(event.row_key.value)
            self._table.focus()

    def _show_chosen(self) -> None:
        work = self._detailed = self._works.get(self.chosen)
        if work is None:
            self._show_detail("")
        elif self._as_yaml:
            self._show_detail(yaml.safe_dump(work.to_kubernetes(), sort_keys=False, allow_unicode=True))
        else:
            self._show_detail(describe(work, ours=True))

    def action_toggle_yaml(self) -> None:
        self._as_yaml = not self._as_yaml
        self._show_chosen()

    def action_filter(self) -> None:
        self.query_one("#filter", Input).add_class("shown").focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "filter":
            self._filter = event.value
            self._refresh_all()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "filter":
            event.input.set_class(bool(event.value), "shown")
            self._table.focus()

    @worker
    async def action_search(self) -> None:
        self._sought = await self.push_screen_wait(Ask("Search for a name, state or label:"))
        self.action_search_next()

    def action_search_next(self) -> None:
        if self._sought and not self._table.choose_next(self._sought):
            self.notify(f"no work contains {self._sought!r}", markup=False)

    @worker
    async def action_delete(self) -> None:
        name, consumer = self.chosen, self._consumer
        if not name:
            return
        if await self.push_screen_wait(Confirm(f"Delete work {name} and its objects on {consumer}?")):
            await self._attempt(self._client.works(consumer).delete(name))

    @worker
    async def action_apply(self) -> None:
        """Apply a file: the differences are shown before anything is sent."""
        path = await self.push_screen_wait(Ask(f"File to apply to {self._consumer}:"))
        try:
            for wanted in self._read(path):
                work, details = await self._differences(wanted)
                question = Confirm(f"Apply work {work.name} to {work.consumer}?", details)
                if await self.push_screen_wait(question):
                    # Maestro announces a work only once its agent has reported on it.
                    self._keep((await self._client.works(work.consumer).apply(work)).work)
        except HyperFleetError as error:
            self.notify(str(error), severity="error", markup=False)

    @worker
    async def action_compare(self) -> None:
        """Show what applying a file would change, and send nothing."""
        path = await self.push_screen_wait(Ask(f"File to compare with {self._consumer}:"))
        try:
            for wanted in self._read(path):
                work, details = await self._differences(wanted)
                await self.push_screen_wait(Show(f"Work {work.name} on {work.consumer}:", details))
        except HyperFleetError as error:
            self.notify(str(error), severity="error", markup=False)

    def _read(self, path: str) -> Sequence[ManifestWork]:
        return works_of(read_documents([path]), consumer=self._consumer) if path else ()

    async def _differences(self, wanted: ManifestWork) -> tuple[ManifestWork, str]:
        """The work as it would be sent, and what it changes."""
        stored = await stored_work(self._client, self._client.works(wanted.consumer), wanted.name, adopt=False)
        if stored is None:
            return remember(wanted, self._writer), "the work is new"
        merged = planned(stored, wanted, writer=self._writer)
        lines = [f"{each} stays, although the file lacks it" for each in (*merged.unnamed, *merged.foreign)]
        lines.append(show(compare(stored, merged.work), colour=False) or "nothing would change")
        return merged.work, "\n".join(lines)

    async def _attempt(self, call: Awaitable[object]) -> None:
        try:
            await call
        except NotFound:
            self.notify("it is gone already")
        except HyperFleetError as error:
            self.notify(str(error), severity="error", markup=False)

    def _show_detail(self, text: str) -> None:
        self._text.update(text)
