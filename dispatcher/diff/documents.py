"""Two states of a document, as they may be shown: what the author means, without bookkeeping and without secrets.

A value of a Secret is never shown, but whether it changes is.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from dispatcher.dryrun.showing import Shown
from dispatcher.engine.ports import Object
from dispatcher.transports.comparing import meant
from shared.redaction import REDACTED

_SECRET_SECTIONS = ("data", "stringData")
_HIDDEN_CHANGE = "# a value that is not shown changes"


def fields_of(found: Any, manifest: Any) -> Any:
    """Only those fields of `found` that the manifest has too: servers add many more."""
    match found, manifest:
        case Mapping(), Mapping():
            return {key: fields_of(found[key], value) for key, value in manifest.items() if key in found}
        case list(), list() if len(found) == len(manifest):
            return [fields_of(left, right) for left, right in zip(found, manifest, strict=True)]
    return found


def shown_pair(before: Object | None, after: Object | None, shown: Shown) -> tuple[Any, Any]:
    """Both without what may not be shown; None stays None."""
    left, right = (None if each is None else meant(each, with_status=False) for each in (before, after))
    return _masked(left, right, shown, "before"), _masked(right, left, shown, "after")


def unified(before: Any, after: Any, *, names: tuple[str, str]) -> Iterator[str]:
    """The lines of a unified diff of both as YAML."""
    lines = list(difflib.unified_diff(_lines(before), _lines(after), fromfile=names[0], tofile=names[1], lineterm=""))
    yield from lines or (f"--- {names[0]}", f"+++ {names[1]}", _HIDDEN_CHANGE)


def _lines(document: Any) -> list[str]:
    if document is None:
        return []
    return yaml.safe_dump(document, sort_keys=True, allow_unicode=True, width=1000).splitlines()


def _masked(document: Any, other: Any, shown: Shown, when: str) -> Any:
    return document if document is None else _with_masks(shown.value(document), document, other, when)


def _with_masks(redacted: Any, document: Any, other: Any, when: str) -> Any:
    """The redacted document with a mask for each value of a Secret in it."""
    match redacted, document:
        case Mapping(), Mapping():
            filled = {
                key: _with_masks(value, document.get(key), _member(other, key), when) for key, value in redacted.items()
            }
            if document.get("kind") == "Secret":
                filled |= {
                    name: _masks(document[name], _member(other, name), when)
                    for name in _SECRET_SECTIONS
                    if isinstance(document.get(name), Mapping)
                }
            return filled
        case list(), list() if len(redacted) == len(document):
            others = other if isinstance(other, Sequence) and len(other) == len(document) else [None] * len(document)
            return [_with_masks(*each, when) for each in zip(redacted, document, others, strict=True)]
    return redacted


def _masks(values: Mapping[str, Any], others: Any, when: str) -> dict[str, str]:
    return {
        key: REDACTED if _member(others, key) in (None, value) else f"{REDACTED} ({when})"
        for key, value in values.items()
    }


def _member(document: Any, key: str) -> Any:
    return document.get(key) if isinstance(document, Mapping) else None
