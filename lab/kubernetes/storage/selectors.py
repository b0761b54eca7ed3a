"""Label and field selectors of lists and watches."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from lab.kubernetes.api import documents, refusals
from lab.kubernetes.api.kinds import JOB, POD, Kind

Test = Callable[[Mapping[str, Any]], bool]

_REQUIREMENT = re.compile(
    r"(?P<absent>!)?\s*(?P<key>[\w./-]+)"
    r"(?:\s*(?P<sign>==|=|!=)\s*(?P<value>[\w.-]*)|\s+(?P<set>in|notin)\s*\((?P<values>[^)]*)\))?\s*"
)
_FIELD_TERM = re.compile(r"(?P<key>[\w.-]+)(?P<sign>==|=|!=)(?P<value>.*)")
_FIELDS: dict[Kind | None, dict[str, tuple[str, ...]]] = {
    None: {"metadata.name": ("metadata", "name"), "metadata.namespace": ("metadata", "namespace")},
    JOB: {"status.successful": ("status", "succeeded")},
    POD: {
        "spec.nodeName": ("spec", "nodeName"),
        "spec.restartPolicy": ("spec", "restartPolicy"),
        "spec.serviceAccountName": ("spec", "serviceAccountName"),
        "status.phase": ("status", "phase"),
    },
}


def selector(kind: Kind, labels: str, fields: str) -> Test:
    tests = [*_label_tests(labels), *_field_tests(kind, fields)]
    return lambda document: all(test(document) for test in tests)


def selected_name(fields: str) -> str:
    """The name in a `metadata.name` field selector, or "": a rule may allow single names."""
    terms = (_FIELD_TERM.fullmatch(term) for term in fields.split(","))
    return next(
        (term["value"] for term in terms if term and term["key"] == "metadata.name" and term["sign"] != "!="), ""
    )


def _label_tests(text: str) -> list[Test]:
    tests: list[Test] = []
    rest = text.strip()
    while rest:
        match = _REQUIREMENT.match(rest)
        if match is None or (match.end() < len(rest) and rest[match.end()] != ","):
            raise refusals.bad_request(f"unable to parse requirement: found '{rest}'")
        tests.append(_label_test(match))
        rest = rest[match.end() + 1 :].strip()
    return tests


def _label_test(match: re.Match[str]) -> Test:
    key, sign, value = match["key"], match["sign"], match["value"]
    values = {each.strip() for each in (match["values"] or "").split(",")}
    if match["absent"]:
        return lambda document: key not in documents.labels(document)
    if sign == "!=":
        return lambda document: documents.labels(document).get(key) != value
    if sign:
        return lambda document: documents.labels(document).get(key) == value
    if match["set"] == "in":
        return lambda document: documents.labels(document).get(key) in values
    if match["set"] == "notin":
        return lambda document: documents.labels(document).get(key) not in values
    return lambda document: key in documents.labels(document)


def _field_tests(kind: Kind, text: str) -> list[Test]:
    known = _FIELDS[None] | _FIELDS.get(kind, {})
    tests: list[Test] = []
    for text_of_term in filter(None, text.split(",")):
        term = _FIELD_TERM.fullmatch(text_of_term)
        if term is None:
            raise refusals.bad_request(f"invalid selector: '{text}'; can't understand '{text_of_term}'")
        if term["key"] not in known:
            raise refusals.bad_request(_unknown_field(kind, term["key"]))
        tests.append(_field_test(known[term["key"]], term["value"], negated=term["sign"] == "!="))
    return tests


def _unknown_field(kind: Kind, name: str) -> str:
    if kind == POD:
        return f"field label not supported: {name}"
    if kind == JOB:
        return f'field label "{name}" not supported for {kind.name}'
    return f'"{name}" is not a known field selector: only "metadata.name", "metadata.namespace"'


def _field_test(path: tuple[str, ...], value: str, *, negated: bool) -> Test:
    def test(document: Mapping[str, Any]) -> bool:
        found = documents.at(document, *path)
        return (str(found or "") == value) is not negated

    return test
