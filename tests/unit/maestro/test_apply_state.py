"""Whether a status speaks of the work as it is now."""

import pytest

from shared.maestro.works.apply_state import ApplyResult, ApplyState, apply_result, current
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestStatus, ManifestWork, WorkStatus


def condition(status: Status, generation: int | None, message: str = "") -> Condition:
    return Condition(type="Applied", status=status, observed_generation=generation, message=message)


def work(*conditions: Condition, manifests: tuple[ManifestStatus, ...] = ()) -> ManifestWork:
    status = WorkStatus(conditions=conditions, manifests=manifests)
    return ManifestWork(name="w", consumer="c", manifests=(), generation=2, status=status)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        pytest.param(work(), ApplyState.NOT_YET, id="nothing was said"),
        pytest.param(work(condition(Status.TRUE, 2)), ApplyState.APPLIED, id="applied for this generation"),
        pytest.param(work(condition(Status.FALSE, 2)), ApplyState.FAILED, id="failed for this generation"),
        pytest.param(work(condition(Status.UNKNOWN, 2)), ApplyState.NOT_YET, id="the agent does not know"),
        pytest.param(work(condition(Status.TRUE, 1)), ApplyState.NOT_YET, id="applied for the former generation"),
        pytest.param(work(condition(Status.FALSE, 1)), ApplyState.NOT_YET, id="failed for the former generation"),
        pytest.param(work(condition(Status.TRUE, 3)), ApplyState.NOT_YET, id="applied for a generation to come"),
        pytest.param(work(condition(Status.TRUE, None)), ApplyState.NOT_YET, id="applied for no generation"),
    ],
)
def test_only_a_condition_of_this_generation_counts(shown: ManifestWork, expected: ApplyState) -> None:
    assert apply_result(shown).state is expected


def test_the_first_status_after_an_update_is_not_believed() -> None:
    available = Condition(type="Available", status=Status.TRUE, observed_generation=2)
    shown = work(condition(Status.TRUE, 1), available)
    assert apply_result(shown).state is ApplyState.NOT_YET
    assert current(shown, "Available") == available
    assert current(shown, "Applied") is None
    assert current(shown, "Degraded") is None


def test_a_success_has_the_agents_message() -> None:
    shown = apply_result(work(condition(Status.TRUE, 2, "Apply manifest work complete")))
    assert shown == ApplyResult(state=ApplyState.APPLIED, message="Apply manifest work complete")


def test_a_failure_has_the_words_on_each_object_that_was_refused() -> None:
    manifests = (
        ManifestStatus(kind="ConfigMap", namespace="ns", name="good", conditions=(condition(Status.TRUE, 2, "fine"),)),
        ManifestStatus(
            kind="HostedCluster", namespace="ns", name="hc", conditions=(condition(Status.FALSE, 2, "no CRD"),)
        ),
        ManifestStatus(kind="Secret", namespace="ns", name="s", conditions=(condition(Status.FALSE, 2, "denied"),)),
        ManifestStatus(kind="Job", namespace="ns", name="silent"),
    )
    shown = apply_result(work(condition(Status.FALSE, 2, "failed"), manifests=manifests))
    assert shown.message == "HostedCluster ns/hc: no CRD; Secret ns/s: denied"


def test_a_failure_without_words_on_objects_has_those_on_the_work() -> None:
    assert apply_result(work(condition(Status.FALSE, 2, "failed"))).message == "failed"


CONFLICT = (
    'Failed to apply manifest: Operation cannot be fulfilled on hostedclusters.hypershift.openshift.io "hc": '
    "the object has been modified; please apply your changes to the latest version and try again"
)


def refused(name: str, message: str) -> ManifestStatus:
    return ManifestStatus(
        kind="HostedCluster", namespace="ns", name=name, conditions=(condition(Status.FALSE, 2, message),)
    )


def test_a_conflict_of_writes_is_no_failure_because_the_agent_writes_again() -> None:
    shown = apply_result(work(condition(Status.FALSE, 2, "failed"), manifests=(refused("hc", CONFLICT),)))
    assert shown == ApplyResult(state=ApplyState.NOT_YET, message=f"HostedCluster ns/hc: {CONFLICT}")


def test_a_conflict_beside_a_refusal_is_a_failure() -> None:
    manifests = (refused("hc", CONFLICT), refused("other", "denied"))
    shown = apply_result(work(condition(Status.FALSE, 2, "failed"), manifests=manifests))
    assert shown.state is ApplyState.FAILED
    assert "denied" in shown.message


def test_a_conflict_over_the_ownership_of_fields_is_a_failure() -> None:
    """Server-side apply: the agent would write the same again and be refused again."""
    message = 'Failed to apply manifest: Apply failed with 1 conflict: conflict with "helm": .spec.release'
    shown = apply_result(work(condition(Status.FALSE, 2, "failed"), manifests=(refused("hc", message),)))
    assert shown.state is ApplyState.FAILED
