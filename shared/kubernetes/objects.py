"""How a request names what it is about: one object, or a selection of objects of one kind."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.errors import Invalid, Problem

Object = dict[str, Any]
"""A Kubernetes object as JSON."""

_LABEL_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectRef:
    """One object. `namespace` is ignored for kinds that have none."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "ObjectRef":
        """The object a manifest or a stored object is about. Raises Invalid where it does not say."""
        metadata = document.get("metadata")
        metadata = metadata if isinstance(metadata, Mapping) else {}
        named = {
            "apiVersion": document.get("apiVersion"),
            "kind": document.get("kind"),
            "metadata.name": metadata.get("name"),
        }
        missing = [Problem(path, "is missing") for path, value in named.items() if not value]
        if missing:
            raise Invalid("not a Kubernetes object", missing)
        api_version, kind, name = map(str, named.values())
        return cls(api_version=api_version, kind=kind, name=name, namespace=str(metadata.get("namespace") or ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Objects of one kind. `namespace` "" means all; `labels` and `fields` are selectors as kubectl takes them."""

    api_version: str
    kind: str
    namespace: str = ""
    labels: str = ""
    fields: str = ""

    def __str__(self) -> str:
        where = f" in {self.namespace}" if self.namespace else ""
        chosen = ",".join(term for term in (self.labels, self.fields) if term)
        return f"{self.kind}s{where}{f' with {chosen}' if chosen else ''}"


def select_one(ref: ObjectRef) -> Selection:
    """The selection that holds this object alone. Rights that are given by name cover it."""
    return Selection(
        api_version=ref.api_version, kind=ref.kind, namespace=ref.namespace, fields=f"metadata.name={ref.name}"
    )


def equal_labels(labels: Mapping[str, str]) -> str:
    """The label selector that asks for all of these. Raises Invalid for what no label can be."""
    problems = [
        Problem(key, f"{key}={value} is not a label")
        for key, value in labels.items()
        if not _LABEL_KEY.fullmatch(key) or not _LABEL_VALUE.fullmatch(value)
    ]
    if problems:
        raise Invalid("the label selector is not valid", problems)
    return ",".join(f"{key}={value}" for key, value in labels.items())


def metadata_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = document.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def uid_of(document: Mapping[str, Any]) -> str:
    return str(metadata_of(document).get("uid") or "")


def version_of(document: Mapping[str, Any]) -> str:
    return str(metadata_of(document).get("resourceVersion") or "")
