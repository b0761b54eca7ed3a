"""What the table of works shows, in which order, and what a filter or a search finds. All of it is pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from maestro_cli.output.states import State, state_of
from shared.model.manifestwork import ManifestWork

HEADER: Final = ("", "NAME", "STATE", "VERSION", "MANIFESTS")
_ICONS: Final = {
    State.AVAILABLE: "✓",
    State.APPLIED: "•",
    State.IN_PROGRESS: "…",
    State.FAILED: "✗",
    State.DELETING: "†",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `key` is the work's name, which is unique on a consumer for one source."""

    key: str
    cells: tuple[str, ...]
    searchable: str


def row_of(work: ManifestWork) -> Row:
    state = state_of(work)
    labels = " ".join(f"{key}={value}" for key, value in work.labels.items())
    cells = (_ICONS[state], work.name, str(state), str(work.generation), str(len(work.manifests)))
    return Row(work.name, cells, f"{work.name} {state} {labels}".lower())


def visible(rows: Iterable[Row], text: str) -> list[Row]:
    """The rows whose name, state or labels contain the filter's text, by name."""
    wanted = text.strip().lower()
    return sorted((each for each in rows if wanted in each.searchable), key=lambda row: row.key)


def next_match(rows: Sequence[Row], after: int, text: str) -> int | None:
    """The place of the first row behind `after` that contains the text; behind the last row the first one follows."""
    wanted = text.strip().lower()
    places = (*range(after + 1, len(rows)), *range(min(after + 1, len(rows))))
    return next((place for place in places if wanted in rows[place].searchable), None)
