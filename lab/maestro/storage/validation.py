"""Validation of manifests and names before they are stored, with the texts of Kubernetes' validation."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lab.maestro.storage import go_types
from lab.maestro.storage.documents import Document, payload
from shared.model.manifestwork import Json

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    f"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_VERSION = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_VERSION_RULE = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    f"and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '{_VERSION}')"
)
_NAME_PART = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_NAME_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    f"character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME_PART}')"
)
_VALUE = f"({_NAME_PART})?"
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
    f"regex used for validation is '{_VALUE}')"
)
_QUALIFIED_RULE = (
    "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    f"alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME_PART}')"
    " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)
_LABEL_LENGTH = 63
_SUBDOMAIN_LENGTH = 253
_ANNOTATIONS_BYTES = 256 * 1024
_UNSET = "field not set"


def bundle_problem(document: Document) -> str | None:
    """The server's error text for the manifests of an event; None if they are valid."""
    if not document["source"]:
        return _undecodable(
            "failed to convert resource manifest bundle to cloudevent: "
            "failed to unmarshal JSONMAP to cloudevent: cannot parse uri ref: "
        )
    try:
        bundle = payload(document, go_types.MANIFEST_BUNDLE)
    except go_types.Misfit as error:
        return _undecodable(f"failed to decode cloudevent payload: {error}")
    seen = set()
    for manifest in bundle["manifests"] or ():
        if problem := _shape_problem(manifest) or aggregate(_manifest_problems(manifest)):
            return problem
        identity = _identity(manifest)
        if identity in seen:
            version, kind, namespace, name = identity
            return f"duplicate manifest for resource {namespace}/{name} with resource type {version}.{kind}"
        seen.add(identity)
    return None


def consumer_problem(name: str) -> str | None:
    return aggregate(_invalid("consumer.name", name, rule) for rule in _label_rules(name))


def aggregate(problems: Iterator[str]) -> str | None:
    """One problem as it is; several in brackets, without duplicates."""
    found = list(dict.fromkeys(problems))
    return f"[{', '.join(found)}]" if len(found) > 1 else next(iter(found), None)


def _undecodable(why: str) -> str:
    return f"failed to decode manifest bundle: {why}"


def _shape_problem(manifest: Any) -> str | None:
    if isinstance(manifest, dict):
        return None
    if manifest is None:
        return _undecodable("failed to unmarshal manifest raw: unexpected end of JSON input")
    what = f"json: cannot unmarshal {go_types.kind_of(manifest)} into Go value of type map[string]interface {{}}"
    return _undecodable(f"failed to unmarshal manifest raw: {what}")


def _identity(manifest: Json) -> tuple[str, str, str, str]:
    metadata = _object(manifest, "metadata")
    parts = ((manifest, "apiVersion"), (manifest, "kind"), (metadata, "namespace"), (metadata, "name"))
    version, kind, namespace, name = (_text(where, key) for where, key in parts)
    return version, kind, namespace, name


def _manifest_problems(manifest: Json) -> Iterator[str]:
    version, kind, namespace, name = _identity(manifest)
    yield from _version_problems(version)
    if not kind:
        yield _required("kind")
    if not name:
        yield _required("metadata.name")
    if namespace:
        yield from (_invalid("metadata.namespace", namespace, rule) for rule in _label_rules(namespace))
    metadata = _object(manifest, "metadata")
    for forbidden in ("generateName", "resourceVersion"):
        if _text(metadata, forbidden):
            yield _forbidden(f"metadata.{forbidden}")
    yield from _annotation_problems(_texts(metadata, "annotations"))
    yield from _finalizer_problems(metadata.get("finalizers"))
    yield from _label_problems(_texts(metadata, "labels"))


def _version_problems(api_version: str) -> Iterator[str]:
    if not api_version:
        yield _required("apiVersion")
        return
    *groups, version = api_version.split("/")
    if len(groups) > 1:
        yield _invalid("apiVersion", api_version, "bad format")
        return
    if groups == [""]:
        yield _invalid("apiVersion", api_version, "group not set")
    elif groups:
        yield from (_invalid("apiVersion", api_version, rule) for rule in _subdomain_rules(groups[0]))
    if not version:
        yield _invalid("apiVersion", api_version, "version not set")
    else:
        rules = _broken(version, _LABEL_LENGTH, _VERSION, _VERSION_RULE)
        yield from (_invalid("apiVersion", api_version, rule) for rule in rules)


def _annotation_problems(annotations: Mapping[str, str]) -> Iterator[str]:
    for key in sorted(annotations):
        yield from (_invalid("metadata.annotations", key, rule) for rule in _qualified_rules(key.lower()))
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > _ANNOTATIONS_BYTES:
        yield f"metadata.annotations: Too long: may not be more than {_ANNOTATIONS_BYTES} bytes"


def _finalizer_problems(finalizers: Any) -> Iterator[str]:
    listed = finalizers if isinstance(finalizers, list) and all(isinstance(each, str) for each in finalizers) else []
    for finalizer in listed:
        yield from (_invalid("metadata.finalizers", finalizer, rule) for rule in _qualified_rules(finalizer))
    if {"orphan", "foregroundDeletion"} <= set(listed):
        both = "finalizer orphan and foregroundDeletion cannot be both set"
        yield f"metadata.finalizers: Invalid value: {_quoted(listed)}: {both}"


def _label_problems(labels: Mapping[str, str]) -> Iterator[str]:
    for key, value in sorted(labels.items()):
        yield from (_invalid("metadata.labels", key, rule) for rule in _qualified_rules(key))
        rules = _broken(value, _LABEL_LENGTH, _VALUE, _VALUE_RULE, unit="bytes")
        yield from (_invalid("metadata.labels", value, rule) for rule in rules)


def _label_rules(name: str) -> Iterator[str]:
    rule = "must not contain dots" if re.fullmatch(_SUBDOMAIN, name) else _LABEL_RULE
    return _broken(name, _LABEL_LENGTH, _LABEL, rule)


def _subdomain_rules(name: str) -> Iterator[str]:
    return _broken(name, _SUBDOMAIN_LENGTH, _SUBDOMAIN, _SUBDOMAIN_RULE)


def _qualified_rules(key: str) -> Iterator[str]:
    *prefixes, name = key.split("/")
    if len(prefixes) > 1:
        yield _QUALIFIED_RULE
        return
    if prefixes == [""]:
        yield "prefix part must be non-empty"
    elif prefixes:
        yield from (f"prefix part {rule}" for rule in _subdomain_rules(prefixes[0]))
    if not name:
        yield "name part must be non-empty"
    elif len(name.encode()) > _LABEL_LENGTH:
        yield f"name part must be no more than {_LABEL_LENGTH} bytes"
    if not re.fullmatch(_NAME_PART, name):
        yield _NAME_RULE


def _broken(value: str, longest: int, pattern: str, rule: str, *, unit: str = "characters") -> Iterator[str]:
    if len(value.encode()) > longest:
        yield f"must be no more than {longest} {unit}"
    if not re.fullmatch(pattern, value):
        yield rule


def _required(path: str) -> str:
    return f"{path}: Required value: {_UNSET}"


def _forbidden(path: str) -> str:
    return f"{path}: Forbidden: field cannot be set"


def _invalid(path: str, value: str, rule: str) -> str:
    return f"{path}: Invalid value: {json.dumps(value, ensure_ascii=False)}: {rule}"


def _quoted(listed: list[str]) -> str:
    return "[" + ",".join(f'"{each}"' for each in listed) + "]"


def _text(where: Json, key: str) -> str:
    value = where.get(key)
    return value if isinstance(value, str) else ""


def _object(where: Json, key: str) -> Json:
    value = where.get(key)
    return value if isinstance(value, dict) else {}


def _texts(where: Json, key: str) -> Mapping[str, str]:
    value = _object(where, key)
    return value if all(isinstance(each, str) for each in value.values()) else {}
