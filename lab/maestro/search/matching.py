"""Maestro's search parameter, which has two languages.

A search with a JSON operator has another parser than one without; they differ in keywords and quoting.
"""

from collections.abc import Callable

from lab.maestro.search import json_language, plain_language
from lab.maestro.search.terms import Kind, Record, Table

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
    """A predicate for records of that table. Raises Refusal for an invalid search or an unknown column."""
    language = json_language if "->>" in text or "@>" in text else plain_language
    term = language.parse(text, table)
    return lambda record: term(record) is True
