"""The verbs: get, create, update, patch, apply and delete, on the store.

Everything here is synchronous, so each verb is atomic.
"""

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lab.kubernetes.api import documents, refusals
from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.kinds import DEFINITION, JOB, NAMESPACE, POD, Kind, Kinds
from lab.kubernetes.api.paths import Target
from lab.kubernetes.apply import patches, server_side_apply
from lab.kubernetes.storage import defaults, preparation
from lab.kubernetes.storage.store import Key, Store
from lab.kubernetes.validation import decoding, rules
from lab.kubernetes.validation.field_errors import invalid
from shared import times

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
_POLICY_FINALIZERS = {"Orphan": ORPHAN, "Foreground": FOREGROUND}
# etcd's limit for one write.
_LARGEST_OBJECT = 1536 * 1024
BUILT_IN_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """The field manager, and the options `force` and `dryRun`."""

    manager: str = "unknown"
    force: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    policy: str = ""
    grace_seconds: int | None = None
    preconditions: Mapping[str, str] = field(default_factory=dict)
    dry_run: bool = False


class Resources:
    """The objects of one API server, by verb."""

    def __init__(self, store: Store, kinds: Kinds) -> None:
        self.store, self.kinds = store, kinds
        for name in BUILT_IN_NAMESPACES:
            self.create(Target(kind=NAMESPACE), {"metadata": {"name": name}}, WriteOptions())

    def get(self, target: Target) -> Object:
        found = self.store.get(_key(target))
        if found is None:
            raise refusals.not_found(target.kind, target.name)
        return found

    def exists(self, target: Target) -> bool:
        return self.store.get(_key(target)) is not None

    def create(self, target: Target, document: Object, options: WriteOptions) -> Object:
        new = preparation.for_create(target.kind, target.namespace, document)
        return self._make(target, server_side_apply.recorded(_writer(target, options), {}, new), options)

    def update(self, target: Target, document: Object, options: WriteOptions) -> tuple[Object, bool]:
        """The stored object, and whether this call created it."""
        stated = documents.name(document)
        if stated != target.name:
            raise refusals.bad_request(
                f"the name of the object ({stated}) does not match the name on the URL ({target.name})"
            )
        before = self.store.get(_key(target))
        if before is None and target.kind.creates_on_update and not target.subresource:
            return self.create(target, document, options), True
        before = self.get(target)
        _check_uid(target, before, documents.uid(document))
        return self._replace(target, before, document, options), False

    def patch(self, target: Target, media_type: str, body: Any, options: WriteOptions) -> Object:
        before = self.get(target)
        changed = _patched(target.kind, media_type, before, body)
        changed.setdefault("metadata", {}).setdefault("resourceVersion", _version(before))
        return self._replace(target, before, changed, options)

    def apply(self, target: Target, wanted: Object, options: WriteOptions) -> tuple[Object, bool]:
        """Server-side apply: the stored object, and whether this call created it."""
        kind, writer = target.kind, _writer(target, options)
        if (wanted.get("apiVersion"), wanted.get("kind")) != (kind.api_version, kind.name):
            group_version, _, version = str(wanted.get("apiVersion") or "/").rpartition("/")
            why = f"invalid object type: {group_version}/{version}, Kind={wanted.get('kind') or ''}"
            raise refusals.bad_request(why)
        before = self.store.get(_key(target))
        if before is None and target.subresource:
            raise refusals.not_found(kind, target.name)
        if before is None:
            if stated := documents.uid(wanted):
                why = f"uid mismatch: the provided object specified uid {stated}, and no existing object was found"
                raise refusals.conflict(kind, target.name, why)
            wanted = documents.with_metadata(wanted, resourceVersion=None)
            new = server_side_apply.applied(
                writer, {}, wanted, lambda merged: preparation.for_create(kind, target.namespace, merged)
            )
            return self._make(target, new, options), True
        _check_version(target, before, documents.metadata(wanted).get("resourceVersion") or _version(before))
        new = server_side_apply.applied(
            writer, before, wanted, lambda merged: preparation.for_update(kind, target.subresource, before, merged)
        )
        return self._keep(target, before, new, options), False

    def delete(self, target: Target, options: DeleteOptions) -> Object:
        """A Status if the object was removed, or the object if a finalizer or grace period holds it."""
        before = self.get(target)
        _check_preconditions(target, before, options.preconditions)
        marked = _marked_for_deletion(target.kind, before, options)
        held = (
            target.kind == NAMESPACE
            or documents.finalizers(marked)
            or documents.metadata(marked).get("deletionGracePeriodSeconds")
        )
        if options.dry_run:
            return marked
        if not held:
            self._remove(_key(target), target.kind)
            return refusals.success(target.kind, target.name, documents.uid(before))
        return before if marked == before else self.store.put(_key(target), marked)

    def finalize_namespace(self, name: str) -> None:
        """The last step of a namespace's deletion, after everything in it is gone."""
        self._remove(Key.of(NAMESPACE, "", name), NAMESPACE)

    def _make(self, target: Target, new: Object, options: WriteOptions) -> Object:
        kind, name = target.kind, documents.name(new)
        defaults.fill_new(kind, new)
        if causes := rules.causes_for_new(kind, new):
            raise refusals.invalid(kind, name, causes)
        self._check_namespace(kind, target.namespace, name)
        key = Key.of(kind, target.namespace, name)
        if self.store.get(key) is not None:
            raise refusals.already_exists(kind, name)
        defaults.fill_stored(kind, new)
        return self._put(key, kind, new, options)

    def _replace(self, target: Target, before: Object, document: Object, options: WriteOptions) -> Object:
        _check_version(target, before, documents.metadata(document).get("resourceVersion"))
        new = preparation.for_update(target.kind, target.subresource, before, document)
        return self._keep(target, before, server_side_apply.recorded(_writer(target, options), before, new), options)

    def _keep(self, target: Target, before: Object, new: Object, options: WriteOptions) -> Object:
        kind = target.kind
        if causes := rules.causes_for_change(kind, target.subresource, before, new):
            raise refusals.invalid(kind, target.name, causes)
        new["metadata"]["resourceVersion"] = _version(before)
        if new == before:
            return before
        if documents.deleting(new) and not documents.finalizers(new) and _grace_period_over(new):
            if not options.dry_run:
                self._remove(_key(target), kind)
            return new
        return self._put(_key(target), kind, new, options)

    def _put(self, key: Key, kind: Kind, document: Object, options: WriteOptions) -> Object:
        if options.dry_run:
            return document
        if len(json.dumps(document)) > _LARGEST_OBJECT:
            raise refusals.Refusal(500, "", "etcdserver: request is too large")
        stored = self.store.put(key, document)
        if kind == DEFINITION:
            self.kinds.define(stored)
        return stored

    def _remove(self, key: Key, kind: Kind) -> None:
        gone = self.store.remove(key)
        if kind == DEFINITION:
            self._drop_custom_objects(gone)

    def _drop_custom_objects(self, definition: Object) -> None:
        self.kinds.forget(definition)
        spec = definition["spec"]
        for key in self.store:
            if (key.group, key.plural) == (spec["group"], spec["names"]["plural"]):
                self.store.remove(key)

    def _check_namespace(self, kind: Kind, namespace: str, name: str) -> None:
        if not kind.namespaced:
            return
        found = self.store.get(Key.of(NAMESPACE, "", namespace))
        if found is None:
            raise refusals.not_found(NAMESPACE, namespace)
        if documents.deleting(found):
            raise refusals.terminating(kind, namespace, name)


def _writer(target: Target, options: WriteOptions) -> server_side_apply.Writer:
    return server_side_apply.Writer(
        kind=target.kind, manager=options.manager, subresource=target.subresource, force=options.force
    )


def _version(document: Object) -> str:
    return str(documents.metadata(document)["resourceVersion"])


def _key(target: Target) -> Key:
    return Key.of(target.kind, target.namespace, target.name)


def _patched(kind: Kind, media_type: str, before: Object, body: Any) -> Object:
    ways: dict[str, Callable[[Object, Any], Any]] = {
        patches.JSON_PATCH: patches.json_patch,
        patches.MERGE_PATCH: patches.merge,
    }
    if not kind.custom:
        ways[patches.STRATEGIC_PATCH] = patches.strategic
    if media_type not in ways:
        raise refusals.unsupported_media_type([*ways, patches.APPLY_PATCH] if kind.custom else [])
    if media_type != patches.JSON_PATCH and not isinstance(body, dict):
        raise refusals.bad_request("error decoding patch: the body must be an object")
    changed: Object = ways[media_type](copy.deepcopy(before), body)
    try:
        decoding.decoded(kind, changed)
    except decoding.Undecodable as error:
        cause = invalid("patch", json.dumps(body), str(error))
        raise refusals.Refusal(
            422, "Invalid", f' "" is invalid: patch: {cause.message}', causes=[cause.document()]
        ) from None
    return changed


def _check_uid(target: Target, before: Object, stated: str) -> None:
    actual = documents.uid(before)
    if stated and stated != actual:
        place = f"/registry/{target.kind.plural}/{target.namespace}/{target.name}"
        why = f"StorageError: invalid object, Code: 4, Key: {place}, ResourceVersion: 0, AdditionalErrorMsg: "
        why += f"Precondition failed: UID in precondition: {stated}, UID in object meta: {actual}"
        raise refusals.conflict(target.kind, target.name, why)


def _check_version(target: Target, before: Object, stated: str | None) -> None:
    if not stated:
        if not target.kind.unconditional:
            cause = invalid("metadata.resourceVersion", 0, "must be specified for an update")
            raise refusals.invalid(target.kind, target.name, [cause])
    elif stated != _version(before):
        raise refusals.stale(target.kind, target.name)


def _check_preconditions(target: Target, before: Object, preconditions: Mapping[str, str]) -> None:
    checked = {
        "uid": ("UID", "deleted and then recreated"),
        "resourceVersion": ("ResourceVersion", "modified"),
    }
    for key, (shown, fate) in checked.items():
        wanted, actual = preconditions.get(key), documents.metadata(before)[key]
        if wanted and wanted != actual:
            raise refusals.conflict_of_kind(
                target.kind,
                target.name,
                f"the {shown} in the precondition ({wanted}) does not match the {shown} in record ({actual})."
                f" The object might have been {fate}",
            )


def _marked_for_deletion(kind: Kind, before: Object, options: DeleteOptions) -> Object:
    """The object marked as deleting, with its finalizers and the grace period of a running pod."""
    policy = options.policy or ("Orphan" if kind == JOB else "Background")
    finalizers = [each for each in documents.finalizers(before) if each not in (ORPHAN, FOREGROUND)]
    if finalizer := _POLICY_FINALIZERS.get(policy):
        finalizers.append(finalizer)
    grace = _grace_seconds(kind, before, options.grace_seconds)
    generation: int | None = documents.metadata(before).get("generation")
    if documents.deleting(before):
        grace = min(grace, documents.metadata(before).get("deletionGracePeriodSeconds") or 0)
        moment = documents.metadata(before)["deletionTimestamp"]
    else:
        moment = times.to_seconds(times.now())
        if generation:
            generation += 1
    marked = documents.with_metadata(
        before,
        finalizers=finalizers or None,
        deletionTimestamp=moment,
        deletionGracePeriodSeconds=grace,
        generation=generation,
    )
    return marked | {"status": {"phase": "Terminating"}} if kind == NAMESPACE else marked


def _grace_seconds(kind: Kind, before: Object, asked: int | None) -> int:
    if kind != POD:
        return 0
    ended = documents.at(before, "status", "phase") in ("Failed", "Succeeded")
    if ended or not documents.at(before, "spec", "nodeName"):
        return 0
    usual: int = documents.at(before, "spec", "terminationGracePeriodSeconds") or 0
    return usual if asked is None else asked


def _grace_period_over(document: Object) -> bool:
    return not documents.metadata(document).get("deletionGracePeriodSeconds")
