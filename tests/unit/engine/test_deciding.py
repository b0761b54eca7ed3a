"""The table of decisions: one row a case, the id of the row is the sentence."""

from typing import Any

import pytest

from dispatcher.engine.ports import Object
from dispatcher.engine.resources.deciding import (
    Create,
    Delete,
    Observed,
    Plan,
    Recreate,
    Refuse,
    Skip,
    Supersede,
    Update,
    Wait,
    Wanted,
    decide,
)
from tests.unit.engine.building import made


def job(generation: int, name: str = "", **metadata: Any) -> Object:
    return made("Job", name or "job", generation=generation, **metadata)


LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
BARE: Object = {"apiVersion": "v1", "kind": "Job", "metadata": {"name": "job"}}
UNSTAMPED: Object = {**BARE, "metadata": {"name": "job", "annotations": {"hyperfleet.io/generation": "5"}}}


def wanted(**more: Any) -> Wanted:
    return Wanted(name="job", generation=5, **more)


@pytest.mark.parametrize(
    ("asked", "observed", "plan", "reason"),
    [
        pytest.param(wanted(), Observed(), Create, "resource not found", id="what is missing is created"),
        pytest.param(wanted(), Observed(found=job(5)), Skip, "generation 5 unchanged", id="the same generation is left alone"),
        pytest.param(wanted(), Observed(found=job(4)), Update, "generation changed 4->5", id="an older generation is updated"),
        pytest.param(wanted(), Observed(found=BARE), Update, "generation changed 0->5", id="an object without a generation is older than any"),
        pytest.param(wanted(), Observed(found=job(6)), Refuse, "Job job is of generation 6, newer than 5", id="a newer generation is never overwritten"),
        pytest.param(Wanted(name="job"), Observed(found=job(6)), Update, "generation changed 6->0", id="a manifest without a generation is no older one"),
        pytest.param(Wanted(name="job"), Observed(found=made("Job", "job", generation=0)), Skip, "generation 0 unchanged", id="without any generation nothing is known to have changed"),
        pytest.param(wanted(), Observed(found=UNSTAMPED), Update, "stamped with the adapter and the event", id="an unstamped object of the same generation is stamped"),
        pytest.param(wanted(), Observed(found={**UNSTAMPED, "metadata": UNSTAMPED["metadata"] | LEAVING}), Skip, "generation 5 unchanged, and on its way out", id="an unstamped object on its way out is not worth a stamp"),
        pytest.param(wanted(), Observed(found=job(5), drifted=True), Update, "generation 5 has drifted", id="drift is repaired where asked for"),
        pytest.param(wanted(recreate_on_change=True), Observed(found=job(5), drifted=True), Recreate, "generation 5 has drifted", id="drift of what cannot be updated is repaired by recreation"),
        pytest.param(wanted(recreate_on_change=True), Observed(found=job(4)), Recreate, "generation changed 4->5", id="an older generation is recreated where asked for"),
        pytest.param(wanted(recreate_on_change=True), Observed(found=job(5)), Skip, "generation 5 unchanged", id="the same generation is not recreated"),
        pytest.param(wanted(), Observed(found=job(4, **LEAVING)), Wait, "generation changed 4->5, and the former one is not yet gone", id="an older one on its way out is waited for"),
        pytest.param(wanted(), Observed(found=job(5, **LEAVING)), Skip, "generation 5 unchanged", id="a TTL that removes the current one is none of our business"),
        pytest.param(wanted(), Observed(found=job(4, name="job-gen4")), Create, "Job job-gen4 is of generation 4", id="an older generation under another name does not stop the creation"),
        pytest.param(wanted(), Observed(found=job(6, name="job-gen6")), Refuse, "Job job-gen6 is of generation 6, newer than 5", id="a newer generation under another name does"),
        pytest.param(wanted(), Observed(found=job(5, name="another")), Skip, "generation 5 unchanged", id="the same generation under another name is it"),
        pytest.param(wanted(creatable=False), Observed(), Skip, "lifecycle.create.when condition evaluated to false", id="what may not be created is skipped"),
        pytest.param(wanted(creatable=False), Observed(found=job(4)), Update, "generation changed 4->5", id="what exists is updated though it may not be created"),
        pytest.param(wanted(deleted=True), Observed(), Delete, "resource already deleted or never existed", id="nothing is left to delete"),
        pytest.param(wanted(deleted=True), Observed(found=job(5)), Delete, "lifecycle.delete.when evaluated to true", id="what is to be deleted is deleted"),
        pytest.param(wanted(deleted=True), Observed(found=job(9)), Delete, "lifecycle.delete.when evaluated to true", id="of any generation"),
        pytest.param(wanted(deleted=True), Observed(found=job(5, **LEAVING)), Delete, "its deletion is under way", id="but only once"),
        pytest.param(wanted(deleted=True, creatable=False), Observed(), Skip, "lifecycle.create.when condition evaluated to false", id="the gate of creation comes before deletion"),
        pytest.param(wanted(supersede=True), Observed(), Create, "resource not found", id="without other generations there is nothing to supersede"),
        pytest.param(wanted(supersede=True), Observed(kin=(job(3, "gen3"), job(4, "gen4"))), Supersede, "generation 5 supersedes 3, 4", id="lower generations are superseded"),
        pytest.param(wanted(supersede=True), Observed(kin=(job(4, "gen4", **LEAVING),)), Wait, "generation 5 supersedes 4, which is not yet gone", id="superseded ones are gone before the creation"),
        pytest.param(wanted(supersede=True), Observed(found=job(4, "gen4"), kin=(job(4, "gen4"),)), Supersede, "generation 5 supersedes 4", id="a discovered lower generation is superseded, not updated"),
        pytest.param(wanted(supersede=True), Observed(kin=(job(4, "gen4"), job(6, "gen6"))), Refuse, "Job gen6 is of generation 6, newer than 5", id="creation is refused while a higher generation exists"),
        pytest.param(wanted(observe_only=True), Observed(), Skip, "this run only observes", id="a run that only observes creates nothing"),
        pytest.param(wanted(observe_only=True, deleted=True), Observed(found=job(5)), Skip, "this run only observes", id="nor deletes it anything"),
    ],
)  # fmt: skip
def test_the_plan(asked: Wanted, observed: Observed, plan: type[Plan], reason: str) -> None:
    decided = decide(asked, observed)

    assert (type(decided), decided.reason) == (plan, reason)


def test_a_gated_creation_is_marked_as_a_skip_of_the_run() -> None:
    assert decide(wanted(creatable=False), Observed()) == Skip(
        "lifecycle.create.when condition evaluated to false", gated=True
    )


def test_only_generations_not_yet_on_their_way_out_are_deleted() -> None:
    decided = decide(wanted(supersede=True), Observed(kin=(job(3, "gen3", **LEAVING), job(4, "gen4"))))

    assert isinstance(decided, Supersede)
    assert [each["metadata"]["name"] for each in decided.older] == ["gen4"]
