"""Prepares a write before it is stored: sets the server's own fields, and selects which of the caller's it takes.

A write of an object keeps its status; a write of the status subresource keeps everything else. For Jobs and Pods a
status write also takes labels and annotations, for custom kinds only the status.
"""

import copy
import secrets
import uuid

from lab.kubernetes.api import documents, refusals
from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.kinds import DEFINITION, JOB, NAMESPACE, POD, Kind
from lab.kubernetes.storage import defaults
from lab.kubernetes.validation import decoding, schemas
from shared import times

_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_LONGEST_GENERATED = 63 - 5
# Fields that a caller may send and the server ignores.
_SERVERS_OWN = ("selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "managedFields")


def typed(kind: Kind, document: Object) -> Object:
    """The body as an object of the kind; built-in kinds may leave out what they are."""
    stated = (document.get("apiVersion"), document.get("kind"))
    if kind.custom and not all(stated):
        raise refusals.bad_request(f"Object 'Kind' is missing in '{document}'")
    if stated not in ((None, None), (kind.api_version, kind.name)):
        version = str(stated[0]).rpartition("/")[2]
        raise refusals.bad_request(f'{stated[1]} in version "{version}" cannot be handled as a {kind.name}')
    try:
        known = decoding.decoded(kind, document)
    except decoding.Undecodable as error:
        why = f'{kind.name} in version "{kind.version}" cannot be handled as a {kind.name}: {error}'
        raise refusals.bad_request(why) from None
    return {"kind": kind.name, "apiVersion": kind.api_version, **known}


def for_create(kind: Kind, namespace: str, document: Object) -> Object:
    """The object as it will first be stored."""
    new = copy.deepcopy(typed(kind, document))
    fields = {key: value for key, value in documents.metadata(new).items() if key not in _SERVERS_OWN}
    if fields.pop("resourceVersion", None):
        raise refusals.bad_request("resourceVersion should not be set on objects to be created")
    if kind.namespaced:
        _check_namespace(fields.get("namespace"), namespace)
        fields["namespace"] = namespace
    if not fields.get("name") and (prefix := fields.get("generateName")):
        fields["name"] = prefix[:_LONGEST_GENERATED] + "".join(secrets.choice(_SUFFIX_LETTERS) for _ in range(5))
    fields["uid"] = str(uuid.uuid4())
    fields["creationTimestamp"] = times.to_seconds(times.now())
    if kind.counts_generations:
        fields["generation"] = 1
    new["metadata"] = fields
    if kind.has_status:
        new.pop("status", None)
    _fill_new(kind, new)
    return schemas.fitted(new, kind.schema) if kind.custom else new


def _fill_new(kind: Kind, new: Object) -> None:
    if kind in (JOB, POD):
        new.setdefault("spec", {})
    if kind == NAMESPACE:
        new["spec"] = {"finalizers": ["kubernetes"]}
        new["status"] = {"phase": "Active"}
        name = documents.name(new)
        new["metadata"]["labels"] = {**documents.labels(new), "kubernetes.io/metadata.name": name}
    if kind == DEFINITION:
        new["status"] = _established(new)
    defaults.fill(kind, new)


def for_update(kind: Kind, subresource: str, before: Object, after: Object) -> Object:
    """The object as it will be stored in place of `before`."""
    new = copy.deepcopy(typed(kind, after))
    if kind.custom:
        new = schemas.fitted(new, kind.schema)
    if kind.namespaced:
        _check_namespace(documents.namespace(new), documents.namespace(before))
    new["metadata"] = _kept_metadata(documents.metadata(before), documents.metadata(new))
    if subresource in ("status", "approval"):
        new = _status_only(kind, before, new)
    elif kind.has_status:
        new.pop("status", None)
        if "status" in before:
            new["status"] = before["status"]
    defaults.fill(kind, new)
    if kind.counts_generations and _rest(kind, new) != _rest(kind, before):
        new["metadata"]["generation"] = documents.metadata(before).get("generation", 0) + 1
    return new


def _check_namespace(stated: str | None, asked: str) -> None:
    if stated and stated != asked:
        raise refusals.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )


def _kept_metadata(before: Object, after: Object) -> Object:
    fields = {key: value for key, value in after.items() if key not in _SERVERS_OWN}
    for key in (*_SERVERS_OWN, "creationTimestamp", "namespace"):
        fields.pop(key, None)
        if key in before:
            fields[key] = before[key]
    fields.setdefault("uid", before["uid"])
    fields.setdefault("name", before["name"])
    return fields


def _status_only(kind: Kind, before: Object, new: Object) -> Object:
    kept = {key: value for key, value in before.items() if key not in ("status", "metadata")}
    status = {"status": new["status"]} if "status" in new else {}
    fields = new["metadata"]
    if kind.custom:
        own = {key: fields[key] for key in ("uid", "name", "resourceVersion") if key in fields}
        fields = {**before["metadata"], **own}
    elif kind == POD:
        fields.pop("ownerReferences", None)
        if owners := documents.owners(before):
            fields["ownerReferences"] = owners
    return {**kept, "metadata": fields, **status}


def _rest(kind: Kind, document: Object) -> Object:
    """The part whose changes increment the generation: the spec; for custom kinds all but metadata and status."""
    if not kind.custom:
        return {"spec": document.get("spec")}
    apart = ("metadata", "status") if kind.has_status else ("metadata",)
    return {key: value for key, value in document.items() if key not in apart}


def _established(definition: Object) -> Object:
    moment = times.to_seconds(times.now())
    reasons = {"NamesAccepted": "NoConflicts", "Established": "InitialNamesAccepted"}
    conditions = [
        {"type": each, "status": "True", "lastTransitionTime": moment, "reason": reason, "message": "accepted"}
        for each, reason in reasons.items()
    ]
    names = documents.at(definition, "spec", "names") or {}
    versions = documents.at(definition, "spec", "versions") or []
    stored = [each["name"] for each in versions if each.get("storage")]
    return {"conditions": conditions, "acceptedNames": names, "storedVersions": stored}
