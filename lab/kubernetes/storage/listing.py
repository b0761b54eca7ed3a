"""Lists in pages; all pages of a list show the same revision."""

import base64
import binascii
import json
from dataclasses import dataclass

from lab.kubernetes.api import documents, refusals
from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.kinds import Kind
from lab.kubernetes.storage.selectors import selector
from lab.kubernetes.storage.store import Store

_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without"
    " the continue parameter, or use the continue token in this response to retrieve the remainder of the results."
    " Continuing with the provided token results in an inconsistent list - objects that were created, modified, or"
    " deleted between the time the first chunk was returned and now may show up in the list."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Selectors, page size (0 is all) and continue token of a list."""

    labels: str = ""
    fields: str = ""
    limit: int = 0
    token: str = ""


@dataclass(frozen=True, slots=True)
class _Position:
    """Where the next page starts, and the revision of all pages."""

    revision: int
    after: tuple[str, str]

    def token(self) -> str:
        return base64.urlsafe_b64encode(json.dumps([self.revision, *self.after]).encode()).decode()

    @classmethod
    def read(cls, token: str) -> "_Position":
        try:
            revision, namespace, name = json.loads(base64.urlsafe_b64decode(token))
        except (ValueError, binascii.Error):
            raise refusals.bad_request("continue key is not valid: cannot decode") from None
        return cls(revision, (namespace, name))


def listed(store: Store, kind: Kind, namespace: str, page: Page) -> Object:
    matches = selector(kind, page.labels, page.fields)
    revision, rest = store.revision, store.of_kind(kind, namespace)
    if page.token:
        position = _Position.read(page.token)
        if position.revision < store.oldest:
            raise refusals.expired(_TOO_OLD)
        revision = position.revision
        rest = [each for each in store.state_at(revision, kind, namespace) if _sort_key(each) > position.after]
    chosen = [each for each in rest if matches(each)]
    shown = chosen[: page.limit or None]
    metadata: Object = {"resourceVersion": str(revision)}
    if len(shown) < len(chosen):
        metadata["continue"] = _Position(revision, _sort_key(shown[-1])).token()
        if not page.labels and not page.fields:
            metadata["remainingItemCount"] = len(chosen) - len(shown)
    return listing(kind, shown, metadata)


def listing(kind: Kind, items: list[Object], metadata: Object) -> Object:
    """A list object. Items of built-in kinds have no kind and apiVersion, those of custom kinds have."""
    shown = items if kind.custom else [_untyped(each) for each in items]
    return {"kind": f"{kind.name}List", "apiVersion": kind.api_version, "metadata": metadata, "items": shown}


def _untyped(document: Object) -> Object:
    return {key: value for key, value in document.items() if key not in ("kind", "apiVersion")}


def _sort_key(document: Object) -> tuple[str, str]:
    return documents.namespace(document), documents.name(document)
