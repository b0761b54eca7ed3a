"""Which works `status` names as needing attention."""

from datetime import timedelta

import pytest

from maestro_cli.commands.checking import concern
from maestro_cli.output.describing import describe
from shared import times
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestWork, WorkStatus

NOW = times.now()
LONG_AGO, JUST_NOW = NOW - timedelta(minutes=10), NOW - timedelta(seconds=10)
APPLIED = WorkStatus(conditions=(Condition(type="Applied", status=Status.TRUE, observed_generation=1),))
FAILED = WorkStatus(conditions=(Condition(type="Applied", status=Status.FALSE, observed_generation=1),))


def work(**values: object) -> ManifestWork:
    made = {"created_at": LONG_AGO, "updated_at": LONG_AGO, "generation": 1}
    return ManifestWork(name="w", consumer="c", manifests=(), **{**made, **values})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("looked_at", "expected"),
    [
        pytest.param(work(status=APPLIED), "", id="applied"),
        pytest.param(work(updated_at=JUST_NOW), "", id="new"),
        pytest.param(work(), "no report of the agent for 10m", id="never reported"),
        pytest.param(
            work(generation=2, status=APPLIED),
            "no report of the agent on version 2 for 10m",
            id="reported on an older version only",
        ),
        pytest.param(work(generation=2, status=APPLIED, updated_at=JUST_NOW), "", id="just changed"),
        pytest.param(work(status=FAILED), "the agent could not apply it", id="failed"),
        pytest.param(
            work(status=APPLIED, deleted_at=LONG_AGO),
            "in deletion for 10m: is the agent running?",
            id="stuck in deletion",
        ),
        pytest.param(work(status=APPLIED, deleted_at=JUST_NOW), "", id="being deleted"),
    ],
)
def test_what_needs_attention(looked_at: ManifestWork, expected: str) -> None:
    assert concern(looked_at) == expected


def test_describe_says_what_is_waited_for_and_since_when() -> None:
    assert "State:       InProgress: the agent on c has not reported yet, for 10m" in describe(work(), ours=True)
    changed = work(generation=2, status=APPLIED)
    assert "InProgress: the agent has not applied version 2 yet, for 10m" in describe(changed, ours=True)
