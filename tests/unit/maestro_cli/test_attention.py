"""Which works `status` names as needing attention."""

from datetime import timedelta
from typing import Any

import pytest

from maestro_cli.commands.checking import concern
from maestro_cli.output.describing import describe
from shared import times
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestStatus, ManifestWork, WorkStatus

LONG_AGO, JUST_NOW = timedelta(minutes=10), timedelta(seconds=10)
SILENT = WorkStatus()
APPLIED = WorkStatus(conditions=(Condition(type="Applied", status=Status.TRUE, observed_generation=1),))
FAILED = WorkStatus(conditions=(Condition(type="Applied", status=Status.FALSE, observed_generation=1),))
CONFLICT = (
    'Failed to apply manifest: Operation cannot be fulfilled on configmaps "a": the object has been modified; '
    "please apply your changes to the latest version and try again"
)
CONFLICTED = WorkStatus(
    conditions=FAILED.conditions,
    manifests=(
        ManifestStatus(
            kind="ConfigMap", namespace="n", name="a", conditions=(FAILED.conditions[0]._replace(message=CONFLICT),)
        ),
    ),
)


def work(
    *, updated: timedelta = LONG_AGO, deleted: timedelta | None = None, generation: int = 1, status: WorkStatus = SILENT
) -> ManifestWork:
    """Created long ago, and updated and deleted so long ago."""
    now = times.now()
    return ManifestWork(
        name="w",
        consumer="c",
        manifests=(),
        generation=generation,
        status=status,
        created_at=now - LONG_AGO,
        updated_at=now - updated,
        deleted_at=None if deleted is None else now - deleted,
    )


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({"status": APPLIED}, "", id="applied"),
        pytest.param({"updated": JUST_NOW}, "", id="new"),
        pytest.param({}, "no report of the agent for 10m", id="never reported"),
        pytest.param(
            {"generation": 2, "status": APPLIED},
            "no report of the agent on version 2 for 10m",
            id="reported on an older version only",
        ),
        pytest.param({"generation": 2, "status": APPLIED, "updated": JUST_NOW}, "", id="just changed"),
        pytest.param({"status": FAILED}, "the agent could not apply it", id="failed"),
        pytest.param(
            {"status": CONFLICTED, "updated": JUST_NOW}, "", id="a conflict, after which the agent tries again"
        ),
        pytest.param(
            {"status": CONFLICTED},
            "the agent's write has been in conflict with another's for 10m",
            id="a conflict that lasts",
        ),
        pytest.param(
            {"status": APPLIED, "deleted": LONG_AGO},
            "in deletion for 10m: is the agent running?",
            id="stuck in deletion",
        ),
        pytest.param({"status": APPLIED, "deleted": JUST_NOW}, "", id="being deleted"),
    ],
)
def test_what_needs_attention(facts: dict[str, Any], expected: str) -> None:
    assert concern(work(**facts)) == expected


def test_describe_says_what_is_waited_for_and_since_when() -> None:
    assert "State:       InProgress: the agent on c has not reported yet, for 10m" in describe(work(), ours=True)
    changed = work(generation=2, status=APPLIED)
    assert "InProgress: the agent has not applied version 2 yet, for 10m" in describe(changed, ours=True)
