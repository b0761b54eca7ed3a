"""Validation of objects before they are stored: schemas, Jobs, pods, and changes of a Job's status.

Each check returns causes; the caller turns them into a Refusal. Texts and field paths are the real server's.
"""

from collections.abc import Callable, Iterator

from lab.kubernetes.api import documents
from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.kinds import JOB, POD, Kind
from lab.kubernetes.api.refusals import Cause
from lab.kubernetes.validation import schemas
from lab.kubernetes.validation.field_errors import invalid, required, unsupported
from lab.kubernetes.validation.names import LONGEST_LABEL, metadata_causes

_LASTING = {"Complete": "terminal ", "Failed": "terminal ", "FailureTarget": "", "SuccessCriteriaMet": ""}
_JOB_CANNOT_CHANGE = ("selector", "template", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy")


def causes_for_new(kind: Kind, document: Object) -> list[Cause]:
    found = [*metadata_causes(document), *schemas.violations(document, kind.schema)]
    if kind == JOB:
        found += _job_causes(document)
    elif kind == POD:
        found += _pod_spec_causes("spec", document["spec"], ("Always", "OnFailure", "Never"))
    return found


def causes_for_change(kind: Kind, subresource: str, before: Object, after: Object) -> list[Cause]:
    found = [*metadata_causes(after), *schemas.violations(after, kind.schema)]
    for field in ("name", "namespace", "uid"):
        now = documents.metadata(after).get(field)
        if now != documents.metadata(before).get(field):
            found.append(invalid(f"metadata.{field}", now, "field is immutable"))
    if kind == JOB and subresource == "status":
        found += _job_status_causes(before, after)
    elif kind == JOB:
        found += _job_causes(after)
        for field in _JOB_CANNOT_CHANGE:
            now = after["spec"].get(field)
            if now != before["spec"].get(field):
                found.append(invalid(f"spec.{field}", now, "field is immutable"))
    return found


def _job_causes(document: Object) -> Iterator[Cause]:
    spec, template = document["spec"], documents.at(document, "spec", "template") or {}
    for field in ("backoffLimit", "completions", "parallelism", "activeDeadlineSeconds", "ttlSecondsAfterFinished"):
        if isinstance(number := spec.get(field), int) and number < 0:
            yield invalid(f"spec.{field}", number, "must be greater than or equal to 0")
    for value in documents.labels(template).values():
        if len(value) > LONGEST_LABEL:
            yield invalid("spec.template.labels", value, f"must be no more than {LONGEST_LABEL} bytes")
            break
    pod = template.get("spec") or {}
    if pod.get("restartPolicy") in (None, "", "Always"):
        yield required("spec.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"')
    yield from _pod_spec_causes("spec.template.spec", pod, ("OnFailure", "Never"))


def _pod_spec_causes(path: str, spec: Object, policies: tuple[str, ...]) -> Iterator[Cause]:
    if not spec.get("containers"):
        yield required(f"{path}.containers")
    for field in ("initContainers", "containers"):
        for at, container in enumerate(spec.get(field) or ()):
            for needed in ("name", "image"):
                if not container.get(needed):
                    yield required(f"{path}.{field}[{at}].{needed}")
    policy = spec.get("restartPolicy")
    if policy and policy not in (*policies, "Always"):
        yield unsupported(f"{path}.restartPolicy", policy, policies)


def _job_status_causes(before: Object, after: Object) -> Iterator[Cause]:
    """A finished Job stays finished, and a status may finish it only as the Job controller does."""
    old, new = before.get("status") or {}, after.get("status") or {}
    was, is_ = _truths(old), _truths(new)
    for counter in ("succeeded", "failed"):
        if new.get(counter, 0) < old.get(counter, 0):
            yield invalid(f"status.{counter}", new.get(counter, 0), f"cannot decrease the {counter} counter")
    for ended, adjective in _LASTING.items():
        if was(ended) and not is_(ended):
            yield invalid("status.conditions", None, f"cannot disable the {adjective}{ended}=True condition")
    for bad in ("Failed", "FailureTarget"):
        if is_("SuccessCriteriaMet") and is_(bad):
            yield invalid("status.conditions", None, f"cannot set SuccessCriteriaMet=True and {bad}=true conditions")
    if any(was(ended) != is_(ended) for ended in ("Complete", "Failed", "SuccessCriteriaMet")):
        yield from _ending_causes(new, is_)
    if new.get("completionTime") and not is_("Complete") and new.get("completionTime") != old.get("completionTime"):
        why = "cannot set completionTime when there is no Complete=True condition"
        yield invalid("status.completionTime", new["completionTime"], why)
    if old.get("startTime") and new.get("startTime") != old.get("startTime"):
        yield required("status.startTime", "startTime cannot be removed for unsuspended job")


def _ending_causes(status: Object, holds: Callable[[str], bool]) -> Iterator[Cause]:
    if holds("Complete") and holds("Failed"):
        yield invalid("status.conditions", None, "cannot set Complete=True and Failed=true conditions")
    if holds("Complete") and not status.get("completionTime"):
        yield required("status.completionTime", "completionTime is required for Complete jobs")
    if holds("Failed") and not holds("FailureTarget"):
        why = "cannot set Failed=True condition without the FailureTarget=true condition"
        yield invalid("status.conditions", None, why)
    if holds("Complete") and not holds("SuccessCriteriaMet"):
        why = "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"
        yield invalid("status.conditions", None, why)
    if not holds("Complete") and not holds("Failed"):
        return
    if status.get("active", 0) > 0:
        yield invalid("status.active", status["active"], "active>0 is invalid for finished job")
    if not status.get("startTime"):
        yield required("status.startTime", "startTime is required for finished job")


def _truths(status: Object) -> Callable[[str], bool]:
    true = {each.get("type") for each in status.get("conditions") or () if each.get("status") == "True"}
    return true.__contains__
