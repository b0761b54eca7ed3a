"""Lists: in pages that together show one moment, however long the reading takes."""

import base64
import binascii
import json
from dataclasses import dataclass

from lab.kubernetes import documents, refusals
from lab.kubernetes.documents import Object
from lab.kubernetes.kinds import Kind
from lab.kubernetes.selectors import selector
from lab.kubernetes.store import Store

_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without"
    " the continue parameter, or use the continue token in this response to retrieve the remainder of the results."
    " Continuing with the provided token results in an inconsistent list - objects that were created, modified, or"
    " deleted between the time the first chunk was returned and now may show up in the list."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Which objects are asked for, and how many of them at once; 0 is all."""

    labels: str = ""
    fields: str = ""
    limit: int = 0
    token: str = ""


@dataclass(frozen=True, slots=True)
class _Mark:
    """Where the next page begins, and the moment all pages show."""

    revision: int
    after: tuple[str, str]

    def token(self) -> str:
        return base64.urlsafe_b64encode(json.dumps([self.revision, *self.after]).encode()).decode()

    @classmethod
    def read(cls, token: str) -> "_Mark":
        try:
            revision, namespace, name = json.loads(base64.urlsafe_b64decode(token))
        except (ValueError, binascii.Error):
            raise refusals.bad_request("continue key is not valid: cannot decode") from None
        return cls(revision, (namespace, name))


def listed(store: Store, kind: Kind, namespace: str, page: Page) -> Object:
    matches = selector(kind, page.labels, page.fields)
    revision, rest = store.revision, store.of_kind(kind, namespace)
    if page.token:
        mark = _Mark.read(page.token)
        if mark.revision < store.oldest:
            raise refusals.expired(_TOO_OLD)
        revision = mark.revision
        rest = [each for each in store.state_at(revision, kind, namespace) if _place(each) > mark.after]
    chosen = [each for each in rest if matches(each)]
    shown = chosen[: page.limit or None]
    metadata: Object = {"resourceVersion": str(revision)}
    if len(shown) < len(chosen):
        metadata["continue"] = _Mark(revision, _place(shown[-1])).token()
        if not page.labels and not page.fields:
            metadata["remainingItemCount"] = len(chosen) - len(shown)
    return listing(kind, shown, metadata)


def listing(kind: Kind, items: list[Object], metadata: Object) -> Object:
    """A list object. Items of built-in kinds do not say what they are, those of custom kinds do."""
    shown = items if kind.custom else [_untyped(each) for each in items]
    return {"kind": f"{kind.name}List", "apiVersion": kind.api_version, "metadata": metadata, "items": shown}


def _untyped(document: Object) -> Object:
    return {key: value for key, value in document.items() if key not in ("kind", "apiVersion")}


def _place(document: Object) -> tuple[str, str]:
    return documents.namespace(document), documents.name(document)
