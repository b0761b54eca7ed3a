"""The status that is written: times move with a condition's status only, and an unchanged status is not written."""

from dataclasses import replace
from datetime import timedelta

from dpu_bridge.operator.reconcile.carrying_out import status_of
from dpu_bridge.plan import plan
from tests.support.bridges import NOW, SETTINGS, fresh, settled


def test_the_same_plan_gives_the_same_status_later() -> None:
    observed = settled(fresh())
    first = status_of(observed.bridge, plan(observed, SETTINGS), NOW)
    known = replace(observed, bridge=replace(observed.bridge, previous=first))
    assert status_of(known.bridge, plan(known, SETTINGS), NOW + timedelta(hours=1)) == first


def test_only_what_changed_has_a_new_time() -> None:
    observed = settled(fresh())
    first = status_of(observed.bridge, plan(observed, SETTINGS), NOW)
    lost = replace(observed, dpu_cluster=None, bridge=replace(observed.bridge, previous=first))
    later = NOW + timedelta(hours=1)
    second = status_of(lost.bridge, plan(lost, SETTINGS), later)
    times = {each["type"]: each["lastTransitionTime"] for each in second["conditions"]}
    assert times["DPUClusterBound"] == times["Ready"] == "2026-01-01T13:00:00Z"
    assert times["HostedClusterAvailable"] == "2026-01-01T12:00:00Z"


def test_every_condition_carries_the_generation_it_was_decided_on() -> None:
    observed = settled(fresh(metadata={"generation": 4}))
    status = status_of(observed.bridge, plan(observed, SETTINGS), NOW)
    assert {each["observedGeneration"] for each in status["conditions"]} == {4}
    assert status["observedGeneration"] == 4
