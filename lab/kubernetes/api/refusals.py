"""The API server's error responses: Status objects with the real server's text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.kinds import Kind


@dataclass(frozen=True, slots=True)
class Cause:
    """One entry of `details.causes`; `field` is the path of the invalid field."""

    reason: str
    message: str
    field: str

    def document(self) -> Object:
        return {"reason": self.reason, "message": self.message, "field": self.field}


class Refusal(Exception):
    """An error response; `document` is its body."""

    def __init__(self, code: int, reason: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.document = failure(code, reason, message, **details)


def failure(code: int, reason: str, message: str, **details: Any) -> Object:
    status: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message}
    if reason:
        status["reason"] = reason
    if given := {key: value for key, value in details.items() if value}:
        status["details"] = given
    return {**status, "code": code}


def success(kind: Kind, name: str, uid: str) -> Object:
    """The response to a deletion that removed the object."""
    fields = {"name": name, "group": kind.group, "kind": kind.plural, "uid": uid}
    details = {key: value for key, value in fields.items() if value}
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


def unauthorized() -> Refusal:
    return Refusal(401, "Unauthorized", "Unauthorized")


def forbidden(kind: Kind, name: str, why: str) -> Refusal:
    message = f"{kind.qualified}{_quoted(name)} is forbidden: {why}"
    return Refusal(403, "Forbidden", message, name=name, group=kind.group, kind=kind.plural)


def terminating(kind: Kind, namespace: str, name: str) -> Refusal:
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    cause = Cause("NamespaceTerminating", f"namespace {namespace} is being terminated", "metadata.namespace")
    message = f"{kind.qualified}{_quoted(name)} is forbidden: {why}"
    details = {"name": name, "group": kind.group, "kind": kind.plural, "causes": [cause.document()]}
    return Refusal(403, "Forbidden", message, **details)


def no_such_path() -> Refusal:
    return Refusal(404, "NotFound", "the server could not find the requested resource")


def not_found(kind: Kind, name: str) -> Refusal:
    message = f'{kind.qualified} "{name}" not found'
    return Refusal(404, "NotFound", message, name=name, group=kind.group, kind=kind.plural)


def method_not_allowed() -> Refusal:
    return Refusal(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")


def already_exists(kind: Kind, name: str) -> Refusal:
    message = f'{kind.qualified} "{name}" already exists'
    return Refusal(409, "AlreadyExists", message, name=name, group=kind.group, kind=kind.plural)


def conflict(kind: Kind, name: str, why: str) -> Refusal:
    message = f'Operation cannot be fulfilled on {kind.qualified} "{name}": {why}'
    return Refusal(409, "Conflict", message, name=name, group=kind.group, kind=kind.plural)


def conflict_of_kind(kind: Kind, name: str, why: str) -> Refusal:
    """As `conflict`, with the kind in the message instead of the resource."""
    message = f'Operation cannot be fulfilled on {kind.qualified_kind} "{name}": {why}'
    return Refusal(409, "Conflict", message, name=name, group=kind.group, kind=kind.name)


def stale(kind: Kind, name: str) -> Refusal:
    why = "the object has been modified; please apply your changes to the latest version and try again"
    return conflict(kind, name, why)


def bad_request(why: str) -> Refusal:
    return Refusal(400, "BadRequest", why)


def expired(why: str) -> Refusal:
    return Refusal(410, "Expired", why)


def unsupported_media_type(accepted: Sequence[str]) -> Refusal:
    message = f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}"
    if not accepted:
        message = "415: Unsupported Media Type"
    return Refusal(415, "UnsupportedMediaType", message)


def invalid(kind: Kind, name: str, causes: Sequence[Cause]) -> Refusal:
    problems = [f"{cause.field}: {cause.message}" for cause in causes]
    listed = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
    message = f'{kind.qualified_kind} "{name}" is invalid: {listed}'
    details = {"name": name, "group": kind.group, "kind": kind.name, "causes": [each.document() for each in causes]}
    return Refusal(422, "Invalid", message, **details)


def no_field_manager() -> Refusal:
    kind = Kind(group="meta.k8s.io", name="PatchOptions", plural="")
    return invalid(
        kind, "", [Cause("FieldValueRequired", "Required value: is required for apply patch", "fieldManager")]
    )


def too_large(limit: int) -> Refusal:
    return Refusal(413, "RequestEntityTooLarge", f"Request entity too large: limit is {limit}")


def _quoted(name: str) -> str:
    return f' "{name}"' if name else ""
