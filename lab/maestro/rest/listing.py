"""Lists: search, order and paging of rows."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lab.maestro.search.matching import matcher
from lab.maestro.search.terms import Record, Table, failed
from lab.maestro.storage.refusals import Code, Refusal
from shared.maestro.wire.codec import compact

DEFAULT_SIZE = 100
MAX_SIZE = 65500
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListArguments:
    """The query parameters of a list. An invalid number is 0, as in Go."""

    page: int = 1
    size: int = DEFAULT_SIZE
    search: str = ""
    order_by: tuple[str, ...] = ()

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "ListArguments":
        given = {name: query.get(name, "").strip(" ") for name in ("page", "size", "search", "orderBy")}
        size = _whole(given["size"]) if given["size"] else DEFAULT_SIZE
        return cls(
            page=_whole(given["page"]) if given["page"] else 1,
            size=size if 0 <= size <= MAX_SIZE else MAX_SIZE,
            search=given["search"],
            order_by=tuple(given["orderBy"].split(",")) if given["orderBy"] else (),
        )


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    items: list[T]
    number: int
    total: int


def select(rows: Iterable[T], record_of: Callable[[T], Record], wanted: ListArguments, table: Table) -> Page[T]:
    """The requested page. Raises Refusal for an invalid order or search."""
    orders = [_order(each, table) for each in wanted.order_by]
    selected = [(record_of(row), row) for row in rows]
    if wanted.search:
        matches = matcher(wanted.search, table)
        selected = [(record, row) for record, row in selected if matches(record)]
    for name, descending in reversed(orders):
        selected.sort(key=lambda pair, name=name: _nulls_last(pair[0][name]), reverse=descending)  # type: ignore[misc]
    start = max(0, (wanted.page - 1) * wanted.size)
    items = [row for _, row in selected[start : start + wanted.size]]
    return Page(items, wanted.page, len(selected))


def _order(text: str, table: Table) -> tuple[str, bool]:
    name, _, direction = text.strip(" ").partition(" ")
    owner, _, own = name.rpartition(".")
    if direction not in ("", "asc", "desc") or "." in owner:
        raise Refusal(Code.BAD_REQUEST, f"bad order value '{text}'")
    if owner not in ("", table.name):
        raise failed(f'missing FROM-clause entry for table "{owner}"', "42P01")
    if own.lower() not in table.columns:
        raise failed(f'column "{name}" does not exist', "42703")
    return own.lower(), direction == "desc"


def _nulls_last(value: Any) -> tuple[bool, Any]:
    if value is None:
        return True, 0
    return False, compact(value) if isinstance(value, dict) else value


def _whole(text: str) -> int:
    return int(text) if re.fullmatch(r"[+-]?[0-9]+", text) else 0
