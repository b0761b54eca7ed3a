"""Validation of names, labels and annotations, for every kind."""

import re
from collections.abc import Iterator, Mapping

from lab.kubernetes.api import documents
from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.refusals import Cause
from lab.kubernetes.validation.field_errors import invalid, required

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and"
    " end with an alphanumeric character (e.g. 'example.com', regex used for validation is"
    r" '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_NAME_PART = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_QUALIFIED = re.compile(rf"({_SUBDOMAIN.pattern}/)?{_NAME_PART}")
_QUALIFIED_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric"
    f" character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME_PART}')"
)
_LABEL_VALUE = re.compile(rf"({_NAME_PART})?")
_LABEL_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and"
    " end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is"
    f" '({_NAME_PART})?')"
)
_LONGEST_NAME = 253
LONGEST_LABEL = 63
_ANNOTATIONS_LIMIT = 256 * 1024


def metadata_causes(document: Object) -> Iterator[Cause]:
    fields = documents.metadata(document)
    yield from _name_causes(fields.get("name") or "")
    yield from _label_causes(fields.get("labels") or {})
    yield from _annotation_causes(fields.get("annotations") or {})


def _name_causes(name: str) -> Iterator[Cause]:
    if not name:
        yield required("metadata.name", "name or generateName is required")
    elif not _SUBDOMAIN.fullmatch(name):
        yield invalid("metadata.name", name, _SUBDOMAIN_RULE)
    elif len(name) > _LONGEST_NAME:
        yield invalid("metadata.name", name, f"must be no more than {_LONGEST_NAME} bytes")


def _label_causes(labels: Mapping[str, str]) -> Iterator[Cause]:
    for key, value in labels.items():
        if not _QUALIFIED.fullmatch(key):
            yield invalid("metadata.labels", key, _QUALIFIED_RULE)
        if len(value) > LONGEST_LABEL:
            yield invalid("metadata.labels", value, f"must be no more than {LONGEST_LABEL} bytes")
        elif not _LABEL_VALUE.fullmatch(value):
            yield invalid("metadata.labels", value, _LABEL_RULE)


def _annotation_causes(annotations: Mapping[str, str]) -> Iterator[Cause]:
    for key in annotations:
        if not _QUALIFIED.fullmatch(key):
            yield invalid("metadata.annotations", key, _QUALIFIED_RULE)
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > _ANNOTATIONS_LIMIT:
        why = f"Too long: may not be more than {_ANNOTATIONS_LIMIT} bytes"
        yield Cause("FieldValueTooLong", why, "metadata.annotations")
