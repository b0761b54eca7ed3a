"""`docs/what-a-person-sees.md` is what kubectl printed in a real run, but for names and times that no two runs share.

`RENEW=1 make e2e`, or this file alone with it, writes the page anew.
"""

import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lab.hypershift.operator import Operator
from lab.hypershift.sequences import Moment, Script
from lab.real.cluster.maestro import NAMESPACE
from tests.support.adapter import Cluster
from tests.support.cluster import JobNamespace, Jobs, Kubectl, job_namespace

PAGE = Path(__file__).parents[3] / "docs" / "what-a-person-sees.md"
LABELS = ("--label-columns=hyperfleet.io/cluster-id,hyperfleet.io/generation",)
CONDITIONS = '--output=jsonpath={range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{"\\n"}{end}'
DATA = r"--output=jsonpath={.metadata.annotations.hyperfleet\.io/adapter-report}"
UNEQUAL = {
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ": "2026-01-01T00:00:00Z",
    r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000": "Thu, 01 Jan 2026 00:00:00 +0000",
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b": "00000000-0000-4000-8000-000000000000",
    r'resourceVersion: "\d+"': 'resourceVersion: "1"',
    r"(-gen\d)-\w{5}\b": r"\1-abcde",
    # Jobs stay for longer than 60 s here, as a slow machine takes its time to show them.
    r"ttlSecondsAfterFinished: \d+": "ttlSecondsAfterFinished: 60",
    r"(TTL Seconds After Finished: +)\d+": r"\g<1>60",
    r"(?m)^Duration:( +)[\dms]+$": r"Duration:\g<1>3s",
    r"Degraded for [\dms]+, within": "Degraded for 3s, within",
}
# In a table, with what keeps the columns apart.
AGE = re.compile(r"(?<=  )\d[\dms]*[sm] +")
# Between the columns of `kubectl get`.
GAP = " " * 3


@pytest.fixture
async def namespace(kubectl: Kubectl) -> AsyncIterator[JobNamespace]:
    """The namespace that the template names."""
    async with job_namespace(kubectl, "hyperfleet-adapters") as namespace:
        yield namespace


async def test_the_page_shows_what_kubectl_prints(jobs: Jobs, operator: Operator) -> None:
    page = Page(jobs.namespace)
    wanted = Cluster()
    operator.play(NAMESPACE, wanted.name, Script(hold_before=Moment.AVAILABLE))
    page.add(
        "# What a person sees",
        "The output of kubectl on a real cluster with a real Maestro, in the namespace of the Jobs. A test runs the same "
        "commands\nand compares the output. Times, uids and random names are replaced.",
        "## A new cluster",
        "The HostedCluster is on its management cluster. The Job's conditions show the progress of the control plane.",
    )
    await jobs.until(wanted, lambda job: "ComponentsNotAvailable" in job.message("Available"))
    name = await jobs.start(wanted)
    await jobs.namespace.ended(name, "CompletionsReached")
    await page.show("get", "jobs", *LABELS)
    await page.show("get", "job", name, CONDITIONS)

    await jobs.namespace.kubectl("delete", "job", name)
    operator.play(NAMESPACE, wanted.name, Script())
    await jobs.until(wanted, lambda job: job.has_condition("Health", "True", "NoIssues") and job.data["version"])
    await jobs.start(wanted)
    ready = await jobs.namespace.ended(name, "CompletionsReached")
    page.add(
        "## The control plane is ready",
        "The TTL removed the previous Job, and the next Job observed the cluster again. An annotation has the data of the report.",
    )
    await page.show("get", "job", name, CONDITIONS)
    await page.show("get", "job", name, DATA)
    about = f"--field-selector=involvedObject.uid={ready.document['metadata']['uid']}"
    await jobs.namespace.first(lambda event: event["reason"] == "Completed", "events", about)
    await page.show("describe", "job", name)
    await page.show("get", "job", name, "--output=yaml")

    broken = Cluster(generation=2, spec={**wanted.spec, "openshift_version": "latest"})
    refused = await jobs.start(broken)
    await jobs.namespace.ended(refused, "PodFailurePolicy")
    page.add(
        "## An invalid change",
        "The Job fails with its first pod, because another pod would fail as well. The message of Applied names the field to\n"
        "correct. The control plane of the previous generation still runs, so Available and Health stay True.",
    )
    await page.show("get", "jobs", *LABELS)
    await page.show("get", "job", refused, CONDITIONS)

    if os.environ.get("RENEW"):
        PAGE.write_text(page.text)
    assert page.text == PAGE.read_text(), "RENEW=1 writes the page anew"


class Page:
    def __init__(self, namespace: JobNamespace) -> None:
        self._namespace = namespace
        self._parts: list[str] = []

    def add(self, *paragraphs: str) -> None:
        self._parts += paragraphs

    async def show(self, *command: str) -> None:
        printed = await self._namespace.kubectl(*command)
        for pattern, instead in UNEQUAL.items():
            printed = re.sub(pattern, instead, printed)
        printed = AGE.sub(lambda age: "3s".ljust(len(age[0])), printed)
        if command[:2] == ("get", "jobs"):
            printed = _aligned(printed)
        lines = "\n".join(line.rstrip() for line in printed.rstrip().splitlines())
        typed = " ".join(each if re.fullmatch(r"[\w./=:,-]+", each) else f"'{each}'" for each in command)
        self._parts.append(f"```console\n$ kubectl {typed}\n{lines}\n```")

    @property
    def text(self) -> str:
        return "\n\n".join(self._parts) + "\n"


def _aligned(table: str) -> str:
    """With the columns as wide as they are for Jobs that are seconds old."""
    rows = [re.split(r" {2,}", line.rstrip()) for line in table.splitlines()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(GAP.join(map(str.ljust, row, widths)) for row in rows)
