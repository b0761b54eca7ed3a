"""Which members of a document are answered, by the parameter `fields`. The id is always among them.

A member that is an object is chosen by its own members (`status.conditions`, not `status`); `status.*` means all of
them. Times lose their fractions on the way.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from lab.api.problems import invalid

Document = dict[str, Any]

_CONDITION = (
    "type", "status", "observed_generation", "reason", "message",
    "created_time", "last_updated_time", "last_transition_time",
)  # fmt: skip
_KNOWN = frozenset(
    {
        *("id", "kind", "name", "href", "generation", "spec", "labels", "tenancy", "references"),
        *("created_time", "updated_time", "deleted_time", "created_by", "updated_by", "deleted_by"),
        *("owner_references.id", "owner_references.kind", "owner_references.href", "owner_references.*"),
        *("status.conditions", "status.*", "status.conditions.*"),
        *(f"status.conditions.{member}" for member in _CONDITION),
    }
)
_FRACTION = re.compile(r"(?<=T\d\d:\d\d:\d\d)\.\d+(?=Z$)")


def chosen(parameter: Iterable[str]) -> tuple[str, ...]:
    """The fields asked for, several in one value or in several. Raises Problem for one that no resource has."""
    names = [name.strip() for value in parameter for name in value.split(",") if name.strip()]
    if unknown := sorted(set(names) - _KNOWN):
        raise invalid(f"The following field(s) doesn't exist in `Resource`: {', '.join(unknown)}")
    return (*names, "id") if names and "id" not in names else tuple(names)


def project(document: Document, fields: Sequence[str]) -> Document:
    """The document with these fields only."""
    return _members(document, frozenset(fields), "")


def _members(document: Document, fields: frozenset[str], path: str) -> Document:
    kept = Document()
    for name, value in document.items():
        full = f"{path}.{name}" if path else name
        wanted = full in fields or f"{path}.*" in fields
        if full in {"status", "owner_references"}:
            if inner := _members(value, fields, full):
                kept[name] = inner
        elif isinstance(value, list):
            everything = fields | {f"{full}.*"} if wanted else fields
            items = [inner for each in value if (inner := _members(each, everything, full))]
            if items or wanted:
                kept[name] = items
        elif wanted:
            kept[name] = _FRACTION.sub("", value) if isinstance(value, str) and name.endswith("_time") else value
    return kept
