"""Default values that the API server fills in, as far as clients can see them."""

import base64
from typing import Any

from lab.kubernetes.api import documents
from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.kinds import JOB, POD, SECRET, Kind

_JOB_LABELS = ("batch.kubernetes.io/", "")
_FILE_MODE = 0o644


def fill(kind: Kind, document: Object) -> None:
    """Fill in the defaults of every write, in place."""
    if kind == JOB:
        _fill_job(document)
    elif kind == SECRET:
        _fill_secret(document)
    for _, spec in documents.pod_specs(kind.name, document):
        _fill_pod_spec(spec)


def fill_new(kind: Kind, document: Object) -> None:
    """Fill in the defaults of a new object, which no manager owns, in place; it already has its name and uid."""
    if kind == JOB:
        document["status"] = {}
        _tie_pods_to_job(document)
    elif kind == POD:
        document["spec"].setdefault("enableServiceLinks", True)
        document["spec"].setdefault("preemptionPolicy", "PreemptLowerPriority")
        document["spec"].setdefault("priority", 0)
        document["status"] = {"phase": "Pending", "qosClass": _quality(document["spec"])}


def fill_stored(kind: Kind, document: Object) -> None:
    """Fill in what the server adds when it reads an object from storage, in place, after validation."""
    if kind == JOB:
        _label_as_template(document)


def _fill_job(document: Object) -> None:
    spec = document.setdefault("spec", {})
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("manualSelector", False)
    spec.setdefault("podReplacementPolicy", "Failed" if spec.get("podFailurePolicy") else "TerminatingOrFailed")
    _label_as_template(document)


def _label_as_template(document: Object) -> None:
    labels = documents.labels(documents.at(document, "spec", "template") or {})
    if labels and not documents.labels(document):
        document["metadata"]["labels"] = dict(labels)


def _fill_secret(document: Object) -> None:
    document.setdefault("type", "Opaque")
    texts: dict[str, str] = document.pop("stringData", None) or {}
    if texts:
        encoded = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
        document["data"] = {**(document.get("data") or {}), **encoded}


def _tie_pods_to_job(document: Object) -> None:
    spec, uid, name = document["spec"], documents.uid(document), documents.name(document)
    if spec.get("manualSelector"):
        return
    template = spec.setdefault("template", {}).setdefault("metadata", {})
    tie = {f"{prefix}controller-uid": uid for prefix in _JOB_LABELS}
    tie |= {f"{prefix}job-name": name for prefix in _JOB_LABELS}
    template["labels"] = {**(template.get("labels") or {}), **tie}
    spec.setdefault("selector", {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}})


def _fill_pod_spec(spec: Object) -> None:
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("schedulerName", "default-scheduler")
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", 30)
    if account := spec.get("serviceAccountName"):
        spec.setdefault("serviceAccount", account)
    for container in _dicts(spec, "containers", "initContainers"):
        _fill_container(container)
    for volume in _dicts(spec, "volumes"):
        for source in ("configMap", "secret", "downwardAPI", "projected"):
            if isinstance(volume.get(source), dict):
                volume[source].setdefault("defaultMode", _FILE_MODE)
        for item in _dicts(volume.get("downwardAPI") or {}, "items"):
            item.get("fieldRef", {}).setdefault("apiVersion", "v1")


def _fill_container(container: Object) -> None:
    container.setdefault("resources", {})
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    container.setdefault("imagePullPolicy", _pull_policy(str(container.get("image", ""))))
    for port in _dicts(container, "ports"):
        port.setdefault("protocol", "TCP")
    for variable in _dicts(container, "env"):
        if reference := documents.at(variable, "valueFrom", "fieldRef"):
            reference.setdefault("apiVersion", "v1")


def _pull_policy(image: str) -> str:
    tag = image.rsplit("/", 1)[-1].partition(":")[2]
    return "Always" if tag in ("", "latest") and "@" not in image else "IfNotPresent"


def _quality(spec: Object) -> str:
    resources = [container.get("resources") or {} for container in _dicts(spec, "containers", "initContainers")]
    return "Burstable" if any(each.get("requests") or each.get("limits") for each in resources) else "BestEffort"


def _dicts(holder: Any, *fields: str) -> list[Object]:
    """The objects in these lists; validation rejects everything else."""
    return [each for field in fields for each in holder.get(field) or () if isinstance(each, dict)]
