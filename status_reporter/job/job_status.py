"""Writing a verdict to the Job's status: which Job it is, its present conditions, and the one PATCH."""

import logging
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from shared import times
from shared.errors import Forbidden, Misconfigured, Permanent, Problem, Transient
from shared.model.conditions import Condition, readable
from shared.untrusted_json import as_object, as_texts
from status_reporter import logging_setup
from status_reporter.job.patching import patch_for
from status_reporter.kube import Kube
from status_reporter.verdict import REASONS, Verdict

# Reading the Job before there is anything to write must not delay a report.
LOAD_AHEAD_SECONDS = 2.0

log = logging.getLogger(__name__)


class Owner(NamedTuple):
    """The Job of a pod. The uid distinguishes it from a later Job of the same name."""

    name: str
    uid: str | None = None


def owner_of(pod: Mapping[str, Any], configured: str | None) -> Owner:
    """The Job that owns the pod. Raises Misconfigured where neither the pod nor a setting names it."""
    references = (pod.get("metadata") or {}).get("ownerReferences") or ()
    jobs = [each for each in references if each.get("kind") == "Job"]
    for job in jobs:
        if configured in (None, job.get("name")):
            return Owner(str(job["name"]), job.get("uid"))
    if configured is not None:
        for job in jobs:
            log.warning("JOB_NAME names Job %r, but this pod belongs to Job %r", configured, job.get("name"))
        return Owner(configured)
    raise Misconfigured(
        "the Job cannot be found", [Problem("JOB_NAME", "must be set: the pod does not belong to a Job")]
    )


class JobStatusWriter:
    """One Job and its known conditions, so that the transition times of unchanged statuses are kept.

    Conditions of `types` may be synthetic: made up by a reporter where there was no report, here or in an earlier pod.
    A report replaces all of them.
    """

    def __init__(self, kube: Kube, owner: Owner, types: tuple[str, ...] = ()) -> None:
        self.kube = kube
        self.owner = owner
        self.types = types
        self.present: dict[str, Condition] = {}
        self._synthetic: set[str] = set()
        self._loaded = False

    def write(self, verdict: Verdict, timeout: float) -> None:
        if not self._loaded:
            self.load(timeout)
        written = {condition.type for condition in verdict.conditions}
        removed = set() if verdict.synthetic else self._synthetic - written
        patch = patch_for(
            verdict.conditions,
            verdict.data,
            present=self.present,
            now=times.now(),
            uid=self.owner.uid,
            removed=sorted(removed),
        )
        if patch.refused:
            log.error("left out %s: these conditions belong to the Job controller", ", ".join(patch.refused))
        self._loaded = False  # until the response confirms it
        self.kube.patch_job_status(self.owner.name, patch.body, timeout)
        self._loaded = True
        self.present |= {condition.type: condition for condition in patch.conditions}
        self._synthetic = self._synthetic | written if verdict.synthetic else set()

    def load(self, timeout: float) -> None:
        """Read the Job's conditions. Done ahead of the first write, it makes that write a single request."""
        try:
            job = self.kube.job(self.owner.name, timeout)
        except Forbidden as error:
            log.info("not allowed to read the Job, so times of unchanged conditions are not kept: %s", error)
            job = {}
        present = readable(as_object(job.get("status")).get("conditions"))
        self.present |= {condition.type: condition for condition in present}
        self._synthetic |= {each.type for each in present if each.type in self.types and each.reason in REASONS}
        self._loaded = True


class JobOfPod:
    """The Job that gets this pod's report. It is found from the pod, or by its name where the pod cannot be read."""

    def __init__(self, kube: Kube, pod_name: str, job_name: str | None, types: tuple[str, ...]) -> None:
        self._kube = kube
        self._types = types
        self._pod_name = pod_name
        self._job_name = job_name
        self._writer: JobStatusWriter | None = None

    def see(self, pod: Mapping[str, Any]) -> None:
        """Take the Job from the pod, and read it ahead of the first write."""
        if self._writer is not None:
            return
        self._writer = JobStatusWriter(self._kube, owner_of(pod, self._job_name), self._types)
        labels = as_texts(as_object(pod.get("metadata")).get("labels"))
        logging_setup.bind(
            job=self._writer.owner.name,
            cluster_id=labels.get("hyperfleet.io/cluster-id", ""),
            generation=labels.get("hyperfleet.io/generation", ""),
        )
        try:
            self._writer.load(LOAD_AHEAD_SECONDS)
        except (Permanent, Transient) as error:
            log.debug("the Job cannot be read yet: %s", error)

    def write(self, verdict: Verdict, timeout: Callable[[], float]) -> None:
        """One attempt; `timeout` is asked before each of its requests."""
        if self._writer is None:
            self._writer = JobStatusWriter(self._kube, self._find(timeout()), self._types)
        self._writer.write(verdict, timeout())

    def _find(self, timeout: float) -> Owner:
        try:
            return owner_of(self._kube.pod(self._pod_name, timeout), self._job_name)
        except Permanent:
            if self._job_name is None:
                raise
            return Owner(self._job_name)
