"""Maestro's search: one parameter, two languages.

A search with a JSON operator is read by another parser than one without, and the two do not agree on words or quotes.
"""

from collections.abc import Callable

from lab.maestro import search_json, search_plain
from lab.maestro.search_terms import Kind, Record, Table

_COMMON = {
    "id": Kind.TEXT,
    "name": Kind.TEXT,
    "created_at": Kind.TIME,
    "updated_at": Kind.TIME,
    "deleted_at": Kind.TIME,
}
RESOURCES = Table(
    "resources",
    "Resource",
    {
        **_COMMON,
        "version": Kind.INTEGER,
        "source": Kind.TEXT,
        "consumer_name": Kind.TEXT,
        "type": Kind.TEXT,
        "payload": Kind.JSON,
        "status": Kind.JSON,
    },
)
CONSUMERS = Table("consumers", "Consumer", {**_COMMON, "labels": Kind.JSON})


def matcher(text: str, table: Table) -> Callable[[Record], bool]:
    """A test for records of that table. Raises Refusal for a search that cannot be read, or asks for no column."""
    language = search_json if "->>" in text or "@>" in text else search_plain
    term = language.parse(text, table)
    return lambda record: term(record) is True
