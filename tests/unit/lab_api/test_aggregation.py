"""Aggregation as tables: which reports make a resource reconciled, and what is remembered of the last good state."""

from datetime import UTC, datetime, timedelta

import pytest

from lab.api.rules.aggregation import aggregate, condition_type, is_finalised
from lab.api.rules.values import AdapterCondition, AdapterStatus, Resource, ResourceCondition

START = datetime(2026, 1, 1, tzinfo=UTC)
REQUIRED = ("one", "two")


def at(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


def status(adapter: str, available: str, generation: int = 2, minutes: int = 1, finalized: str = "") -> AdapterStatus:
    listed = {"Available": available, "Finalized": finalized} if finalized else {"Available": available}
    return AdapterStatus(
        adapter=adapter,
        observed_generation=generation,
        conditions=tuple(
            AdapterCondition(type=kind, status=value, last_transition_time=at(minutes))
            for kind, value in listed.items()
        ),
        created_time=at(minutes),
        last_report_time=at(minutes),
    )


def resource(generation: int = 2, *conditions: ResourceCondition, deleted: bool = False) -> Resource:
    return Resource(
        id="id",
        kind="Cluster",
        name="name",
        href="/href",
        created_time=START,
        updated_time=START,
        created_by="somebody",
        updated_by="somebody",
        generation=generation,
        deleted_time=START if deleted else None,
        conditions=conditions,
    )


def before(kind: str, value: str, generation: int) -> ResourceCondition:
    return ResourceCondition(
        type=kind,
        status=value,
        observed_generation=generation,
        created_time=at(-9),
        last_updated_time=at(-8),
        last_transition_time=at(-7),
    )


def concluded(of: Resource, *statuses: AdapterStatus, children: bool = False) -> dict[str, ResourceCondition]:
    return {each.type: each for each in aggregate(of, statuses, REQUIRED, active_children=children)}


@pytest.mark.parametrize(
    ("statuses", "expected", "reason"),
    [
        pytest.param([], "False", "ReconciledMissingAdapters", id="nobody reported"),
        pytest.param([status("one", "True")], "False", "ReconciledMissingAdapters", id="one is missing"),
        pytest.param([status("one", "True"), status("two", "True")], "True", "ReconciledAll", id="all available"),
        pytest.param(
            [status("one", "True"), status("two", "False")], "False", "ReconciledMissingAdapters", id="one unavailable"
        ),
        pytest.param(
            [status("one", "True"), status("two", "Unknown")], "False", "ReconciledMissingAdapters", id="one unknown"
        ),
        pytest.param(
            [status("one", "True"), status("two", "True", 1)], "False", "ReconciledMissingAdapters", id="one is behind"
        ),
        pytest.param(
            [status("one", "True"), status("two", "True", 3)], "False", "ReconciledMissingAdapters", id="one is ahead"
        ),
        pytest.param(
            [status("one", "True"), status("two", "True"), status("three", "False")],
            "True",
            "ReconciledAll",
            id="others do not count",
        ),
    ],
)
def test_reconciled(statuses: list[AdapterStatus], expected: str, reason: str) -> None:
    found = concluded(resource(), *statuses)["Reconciled"]

    assert (found.status, found.reason, found.observed_generation) == (expected, reason, 2)


@pytest.mark.parametrize(
    ("finalized", "children", "expected", "reason"),
    [
        pytest.param(("True", "True"), False, "True", "ReconciledAll", id="all finalised"),
        pytest.param(("True", "False"), False, "False", "ReconciledMissingAdapters", id="one not finalised"),
        pytest.param(("True", ""), False, "False", "ReconciledMissingAdapters", id="one silent on it"),
        pytest.param(("True", "True"), True, "False", "ReconciledWaitingForChildren", id="children are active"),
    ],
)
def test_reconciled_while_deleting(finalized: tuple[str, str], children: bool, expected: str, reason: str) -> None:  # noqa: FBT001 - a column of the table
    statuses = [status(name, "True", finalized=value) for name, value in zip(REQUIRED, finalized, strict=True)]

    found = concluded(resource(deleted=True), *statuses, children=children)["Reconciled"]

    assert (found.status, found.reason) == (expected, reason)


def test_nothing_is_reconciled_where_no_adapter_is_required() -> None:
    [reconciled, last_known] = aggregate(resource(), [status("one", "True")], (), active_children=False)

    assert (reconciled.status, last_known.status) == ("False", "False")


def test_reconciled_is_updated_by_its_oldest_report_of_this_generation() -> None:
    statuses = [status("one", "False", minutes=5), status("two", "True", minutes=3)]

    assert concluded(resource(), *statuses)["Reconciled"].last_updated_time == at(3)
    assert concluded(resource(3), *statuses)["Reconciled"].last_updated_time == START


@pytest.mark.parametrize(
    ("previous", "statuses", "transition"),
    [
        pytest.param(None, [], START, id="the first time, since the last update"),
        pytest.param(before("Reconciled", "False", 2), [], at(-7), id="unchanged, as before"),
        pytest.param(before("Reconciled", "True", 1), [], START, id="lost by a new generation, with the update"),
        pytest.param(
            before("Reconciled", "True", 2), [status("one", "False", minutes=4)], at(4), id="lost by a report, with it"
        ),
        pytest.param(
            before("Reconciled", "False", 2),
            [status("one", "True", minutes=4), status("two", "True", minutes=6)],
            at(4),
            id="won, with the oldest report",
        ),
    ],
)
def test_when_reconciled_changed(
    previous: ResourceCondition | None, statuses: list[AdapterStatus], transition: datetime
) -> None:
    of = resource(2, *([previous] if previous else []))

    assert concluded(of, *statuses)["Reconciled"].last_transition_time == transition


KNOWN = before("LastKnownReconciled", "True", 1)


@pytest.mark.parametrize(
    ("previous", "statuses", "expected"),
    [
        pytest.param(None, [], ("False", 1, "AdaptersMissingReports"), id="nobody reported"),
        pytest.param(None, [status("one", "True")], ("False", 2, "AdaptersMissingReports"), id="one is missing"),
        pytest.param(
            None,
            [status("one", "True"), status("two", "True")],
            ("True", 2, "AllAdaptersReconciled"),
            id="all available",
        ),
        pytest.param(
            None,
            [status("one", "True", 1), status("two", "True", 2)],
            ("False", 2, "AdaptersNotAtSameGeneration"),
            id="never at one generation",
        ),
        pytest.param(
            KNOWN,
            [status("one", "True", 1), status("two", "True", 2)],
            ("True", 1, "AllAdaptersReconciled"),
            id="on the way to a new generation",
        ),
        pytest.param(
            KNOWN,
            [status("one", "True", 1), status("two", "False", 2)],
            ("True", 1, "AllAdaptersReconciled"),
            id="failed at a newer generation",
        ),
        pytest.param(
            KNOWN,
            [status("one", "True", 2), status("two", "False", 1)],
            ("False", 2, "AdapterReportedNotAvailable"),
            id="failed at the known generation",
        ),
        pytest.param(
            KNOWN,
            [status("one", "True", 2), status("two", "True", 2)],
            ("True", 2, "AllAdaptersReconciled"),
            id="arrived at the new generation",
        ),
        pytest.param(
            before("LastKnownReconciled", "False", 1),
            [status("one", "True", 1), status("two", "False", 2)],
            ("False", 2, "AdapterReportedNotAvailable"),
            id="was never good",
        ),
    ],
)
def test_last_known_reconciled(
    previous: ResourceCondition | None, statuses: list[AdapterStatus], expected: tuple[str, int, str]
) -> None:
    of = resource(2, *([previous] if previous else []))

    found = concluded(of, *statuses)["LastKnownReconciled"]

    assert (found.status, found.observed_generation, found.reason) == expected


def test_the_last_known_state_keeps_its_times_while_it_is_only_remembered() -> None:
    found = concluded(resource(2, KNOWN), status("one", "True", 1), status("two", "False", 2))["LastKnownReconciled"]

    assert (found.created_time, found.last_updated_time, found.last_transition_time) == (at(-9), at(-8), at(-7))


def test_an_adapters_condition_is_a_copy_of_its_available() -> None:
    previous = before("OneSuccessful", "True", 1)

    found = concluded(resource(2, previous), status("one", "True", minutes=4))["OneSuccessful"]

    assert (found.status, found.observed_generation, found.last_updated_time) == ("True", 2, at(4))
    assert (found.created_time, found.last_transition_time) == (at(-9), at(-7))


@pytest.mark.parametrize(
    ("adapter", "kind"),
    [("controlplane", "ControlplaneSuccessful"), ("cl-job", "ClJobSuccessful"), ("a--b1", "AB1Successful")],
)
def test_the_condition_of_an_adapter_is_named_after_it(adapter: str, kind: str) -> None:
    assert condition_type(adapter) == kind


@pytest.mark.parametrize(
    ("statuses", "deleted", "expected"),
    [
        pytest.param([status("one", "False", finalized="True")], True, False, id="one is missing"),
        pytest.param([status(name, "False", finalized="True") for name in REQUIRED], True, True, id="all are done"),
        pytest.param(
            [status(name, "False", finalized="True") for name in REQUIRED], False, False, id="not being deleted"
        ),
        pytest.param(
            [status("one", "False", finalized="True"), status("two", "False", 1, finalized="True")],
            True,
            False,
            id="one finalised the generation before",
        ),
    ],
)
def test_a_resource_is_finalised(statuses: list[AdapterStatus], deleted: bool, expected: bool) -> None:  # noqa: FBT001 - columns of the table
    assert is_finalised(resource(deleted=deleted), statuses, REQUIRED) is expected
