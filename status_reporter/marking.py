"""Putting a verdict on the Job, once: which Job it is, what it says already, and the request that changes it."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shared import times
from shared.conditions import Condition
from shared.errors import Forbidden, Invalid, Misconfigured, Problem
from status_reporter.kube import Kube
from status_reporter.patching import patch_for
from status_reporter.verdict import Verdict

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Owner:
    """The Job of a pod; with its uid, a Job that was made anew under the same name is not taken for it."""

    name: str
    uid: str | None = None


def owner_of(pod: Mapping[str, Any], configured: str | None) -> Owner:
    """The Job that made the pod. Raises Misconfigured where nothing says which it is."""
    references = (pod.get("metadata") or {}).get("ownerReferences") or ()
    jobs = [each for each in references if each.get("kind") == "Job"]
    for job in jobs:
        if configured in (None, job.get("name")):
            return Owner(str(job["name"]), job.get("uid"))
    if configured is not None:
        return Owner(configured)
    raise Misconfigured(
        "the Job cannot be found", [Problem("JOB_NAME", "must be set: the pod does not belong to a Job")]
    )


@dataclass(slots=True)
class Marker:
    """One Job and what it is known to say, so that times of unchanged statuses are kept."""

    kube: Kube
    owner: Owner
    present: dict[str, Condition] = field(default_factory=dict)
    _read: bool = False

    def mark(self, verdict: Verdict, timeout: float) -> None:
        if not self._read:
            self.learn(timeout)
        patch = patch_for(verdict.conditions, verdict.data, present=self.present, now=times.now(), uid=self.owner.uid)
        if patch.refused:
            log.error("left out %s: these conditions belong to the Job controller", ", ".join(patch.refused))
        self._read = False  # until the answer says what came of it
        self.kube.patch_job_status(self.owner.name, patch.body, timeout)
        self._read = True
        self.present |= {condition.type: condition for condition in patch.conditions}

    def learn(self, timeout: float) -> None:
        """Read what the Job says. Done ahead of the first mark, it leaves that one nothing but to write."""
        try:
            job = self.kube.job(self.owner.name, timeout)
        except Forbidden as error:
            log.info("the Job may not be read, so times of unchanged conditions are not kept: %s", error)
            job = {}
        for wire in (job.get("status") or {}).get("conditions") or ():
            try:
                condition = Condition.from_kubernetes(wire)
            except Invalid:
                continue
            self.present[condition.type] = condition
        self._read = True
