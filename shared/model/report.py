"""The adapter's report: the file in which a Job's main container reports to the status reporter.

Three forms of it exist in the field and all are read:

* the documented form, `{"conditions": [...], "data": {...}}`;
* the Go status reporter's, `{"status": "success"|"failure", "reason", "message", "details"}`: one condition;
* maestro-cli's result, `{"name", "consumer", "status", "message", "conditions", "resources"}`.

We write the first with the second's members beside it, so that the Go reporter understands our file as well.
The published schema is `adapter-report.schema.json` beside this module.
"""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from shared.errors import Invalid, InvalidReport, Problem
from shared.files import write_atomically
from shared.model import conditions as wire
from shared.model.conditions import Condition, Status
from shared.untrusted_json import MAX_BYTES, Fields, json_object, shown_json

SCHEMA_PATH = Path(__file__).with_name("adapter-report.schema.json")
HEADLINE_TYPE = "Available"

_GO_STATUS = {"success": Status.TRUE, "failure": Status.FALSE}
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class AdapterReport(NamedTuple):
    """An adapter's report. `data` goes to the HyperFleet API, `details` is for a human reader."""

    conditions: tuple[Condition, ...]
    data: Mapping[str, Any] = _NOTHING
    observed_generation: int | None = None
    details: Mapping[str, Any] = _NOTHING

    @property
    def headline(self) -> Condition:
        """The condition that represents the report where a reader uses only one."""
        if not self.conditions:
            raise InvalidReport("a report needs at least one condition")
        return wire.find(self.conditions, HEADLINE_TYPE) or self.conditions[0]

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "status": "success" if self.headline.status is Status.TRUE else "failure",
            "reason": self.headline.reason,
            "message": self.headline.message,
            "conditions": [condition.to_kubernetes() for condition in self.conditions],
            "data": dict(self.data),
        }
        if self.observed_generation is not None:
            document["observedGeneration"] = self.observed_generation
        if self.details:
            document["details"] = dict(self.details)
        return document

    def to_bytes(self) -> bytes:
        """The file's content. Raises InvalidReport for what no reader would accept."""
        try:
            text = json.dumps(self.to_json(), ensure_ascii=False, indent=1, allow_nan=False)
            content = text.encode() + b"\n"
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidReport("the report contains a value that is not JSON", why=str(error)) from error
        self.parse(content)
        return content

    def write(self, path: Path) -> None:
        write_atomically(path, self.to_bytes())

    @classmethod
    def read(cls, path: Path, *, condition_type: str = HEADLINE_TYPE) -> Self:
        """The report at `path`. Raises InvalidReport for an invalid one, OSError for a file that cannot be read yet."""
        return cls.parse(_bytes_of_report(path), condition_type=condition_type)

    @classmethod
    def parse(cls, content: bytes, *, condition_type: str = HEADLINE_TYPE) -> Self:
        """The report in any accepted form; `condition_type` names the condition of a form that has only a status."""
        document = json_object(content, "the adapter's report", InvalidReport)
        problems: list[Problem] = []
        fields = Fields(document, problems)
        conditions = _conditions(document, condition_type, problems)
        data = _data(fields)
        observed_generation = fields.whole_number("observedGeneration")
        if not problems and not conditions:
            problems.append(Problem("", 'needs "conditions", or "status" with "success" or "failure"'))
        if problems:
            raise InvalidReport("the adapter's report cannot be understood", problems)
        return cls(
            conditions=conditions,
            data=data,
            observed_generation=observed_generation,
            details=_details(document),
        )


def schema() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
    return loaded


def _bytes_of_report(path: Path) -> bytes:
    # Not blocking: a named pipe put there must not hang the reader before it is recognised as one.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InvalidReport(f"{path} is not a regular file")
        target = Path(f"/proc/self/fd/{descriptor}").resolve()
        if not target.is_relative_to(path.parent.resolve()):
            raise InvalidReport(f"{path} leads out of its folder", why=f"it is a link to {target}")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(MAX_BYTES + 1)
    finally:
        os.close(descriptor)


def _conditions(document: Mapping[str, Any], condition_type: str, problems: list[Problem]) -> tuple[Condition, ...]:
    listed = document.get("conditions")
    if listed is not None and not isinstance(listed, list):
        problems.append(Problem("conditions", "must be a list"))
        return ()
    found = _listed_conditions(listed or [], problems)
    if _is_cli_result(document) and (not found or document["status"] == "Failed"):
        own = _from_cli_result(document, condition_type)
        return (own, *(condition for condition in found if condition.type != own.type))
    if found or problems:
        return found
    return _from_go_result(document, condition_type, problems)


def _listed_conditions(listed: list[Any], problems: list[Problem]) -> tuple[Condition, ...]:
    found: dict[str, Condition] = {}
    for index, item in enumerate(listed):
        try:
            condition = Condition.from_kubernetes(item)
        except Invalid as error:
            problems += [Problem(f"conditions[{index}].{p.path}".rstrip("."), p.message) for p in error.problems]
            continue
        if condition.type in found:
            problems.append(Problem(f"conditions[{index}].type", f"{condition.type!r} is there twice"))
        found[condition.type] = condition
    return tuple(found.values())


def _from_go_result(document: Mapping[str, Any], condition_type: str, problems: list[Problem]) -> tuple[Condition, ...]:
    if "status" not in document:
        return ()
    status = _GO_STATUS.get(document["status"]) if isinstance(document["status"], str) else None
    if status is None:
        problems.append(Problem("status", f'must be "success" or "failure", not {shown_json(document["status"])}'))
        return ()
    reason = _stripped(document.get("reason")) or "NoReasonProvided"
    message = _stripped(document.get("message")) or "No message provided"
    return (Condition(type=condition_type, status=status, reason=reason, message=message),)


def _is_cli_result(document: Mapping[str, Any]) -> bool:
    return isinstance(document.get("consumer"), str) and isinstance(document.get("status"), str)


def _from_cli_result(document: Mapping[str, Any], condition_type: str) -> Condition:
    """maestro-cli's own states; any other text is the wait expression, written once it was met."""
    message = _stripped(document.get("message"))
    match document["status"]:
        case "Applied":
            return Condition(type="Applied", status=Status.TRUE, reason="Applied", message=message)
        case "Failed":
            return Condition(type="Applied", status=Status.FALSE, reason="Failed", message=message)
        case "Deleted":
            return Condition(type="Finalized", status=Status.TRUE, reason="Deleted", message=message)
        case "Waiting":
            return Condition(type=condition_type, status=Status.FALSE, reason="Waiting", message=message)
        case expression:
            met = message or f"{expression} is met"
            return Condition(type=condition_type, status=Status.TRUE, reason="WaitConditionMet", message=met)


def _data(fields: Fields) -> Mapping[str, Any]:
    document = fields.members
    if document.get("data") is None and _is_cli_result(document):
        members = {"manifest_work": "name", "management_cluster": "consumer", "resources": "resources"}
        return {ours: document[theirs] for ours, theirs in members.items() if theirs in document}
    return fields.object("data").members


def _details(document: Mapping[str, Any]) -> Mapping[str, Any]:
    details = document.get("details")
    if details is None:
        return {}
    return details if isinstance(details, dict) else {"details": details}


def _stripped(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
