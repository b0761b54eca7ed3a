"""Whatever the environment and the snapshot are, the adapter ends in a documented way, with a report that can be written.

`make soak` asks for many more examples than a normal run.
"""

import itertools
import os
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane_adapter.reconcile.carry_out import Result
from controlplane_adapter.reconcile.desire import desire
from controlplane_adapter.reconcile.observe import Observed
from controlplane_adapter.reconcile.plan import Create, decide
from controlplane_adapter.settings import read
from controlplane_adapter.status.outgoing import outgoing
from controlplane_adapter.status.report import build_failure_report, build_report
from controlplane_adapter.status.thresholds import Thresholds
from controlplane_adapter.work.manifestwork import work_for
from shared.errors import HyperFleetError, Misconfigured, Permanent, Problem
from shared.model.conditions import Condition, Status
from shared.model.report import AdapterReport
from tests.support.random_runs import cases

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
ENOUGH = {
    "MANAGEMENT_CLUSTER_CONSUMER": "mgmt-01",
    "MAESTRO_API_URL": "http://127.0.0.1:1",
    "MAESTRO_GRPC_URL": "127.0.0.1:1",
    "MAESTRO_INSECURE": "true",
}
RUNS = 20_000 if os.environ.get("SOAK") else 2_000
many = settings(max_examples=2_000 if os.environ.get("SOAK") else 100, deadline=None)


def report_of(variables: dict[str, str]) -> AdapterReport:
    """What a run would report that finds nothing in Maestro."""
    chosen, problems = read(variables)
    if chosen is None or problems:
        return failed(Misconfigured("invalid settings", problems), observed=Observed() if chosen else None)
    desired = desire(chosen.request, None)
    plan = decide(desired, Observed())
    snapshot = chosen.snapshot
    work = None
    if isinstance(plan, Create):
        work = work_for(
            plan.hosted_cluster, cluster_id=snapshot.cluster_id, consumer="mgmt-01", generation=snapshot.generation
        )
    return build_report(
        Result(plan=plan, work=work),
        generation=snapshot.generation,
        deleting=snapshot.deleted_time is not None,
        thresholds=chosen.thresholds,
        now=NOW,
    )


def failed(error: HyperFleetError, *, observed: Observed | None = None) -> AdapterReport:
    return build_failure_report(
        error, observed=observed, generation=None, deleting=False, thresholds=Thresholds(), now=NOW
    )


def test_every_environment_and_snapshot_has_a_report_that_can_be_written() -> None:
    reasons = set()
    for environment, snapshot in itertools.islice(cases(seed=12), RUNS):
        variables = ENOUGH | {"CLUSTER_SNAPSHOT": snapshot.decode(errors="surrogateescape")} | environment
        try:
            written = AdapterReport.parse(outgoing(report_of(variables)).to_bytes())
        except Exception as error:
            error.add_note(f"{environment} {snapshot!r}")
            raise
        assert {each.type for each in written.conditions} >= {"Applied", "Available", "Health"}
        reasons.add(written.conditions[0].reason)

    assert reasons >= {"AdapterError", "InvalidSpec", "ManifestWorkCreated", "Deleted"}, (
        "the cases have become one-sided"
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)


@many
@given(reason=st.text(), message=st.text(), data=st.dictionaries(st.text(), JSON))
def test_whatever_others_say_can_be_written(reason: str, message: str, data: dict[str, Any]) -> None:
    condition = Condition(type="Applied", status=Status.FALSE, reason=reason, message=message)

    report = outgoing(AdapterReport(conditions=(condition,), data=data))

    assert AdapterReport.parse(report.to_bytes()).conditions[0].reason


@given(st.text(st.characters(), min_size=1), st.integers(1, 5000))
@settings(deadline=None)
def test_an_error_of_any_length_can_be_written(text: str, count: int) -> None:
    error = Misconfigured(text, [Problem(text, text)] * count, remedy=text)

    report = outgoing(failed(error))

    assert len(report.to_bytes()) < 64 * 1024


def test_half_characters_are_replaced_and_not_a_reason_to_lose_the_report() -> None:
    report = outgoing(failed(Permanent("half \ud800 a character, and NUL \0")))

    assert "half \ufffd a character" in AdapterReport.parse(report.to_bytes()).conditions[0].message
