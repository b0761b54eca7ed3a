"""`diff` on a fleet: the effect of a changed task config is shown, and nothing is written."""

import pytest

from tests.contracts.diff.conftest import Fleet, task


@pytest.fixture
async def served(fleet: Fleet, servers: str) -> Fleet:
    """Many clusters where the servers are real, a few on stand-ins, all of them served."""
    for number in range(200 if servers == "real" else 12):
        fleet.api.add_cluster(f"c{number}", labels={"region": "east" if number % 2 else "west"})
    await fleet.serve(task())
    return fleet


async def test_a_changed_config_shows_its_effect_on_every_object_and_writes_nothing(served: Fleet) -> None:
    number, before = len(served.clusters), await served.state()

    answer = await served.diff(task(), "--all")

    assert (answer.code, answer.text) == (0, f"{number} objects: {number} same, 0 different, 0 failed\n"), answer.errors

    changed = task(greeting="goodbye", password="second", available="False", drift="repair")

    answer = await served.diff(changed, "--all", "-o", "json")

    assert answer.code == 1, answer.errors
    assert answer.document["summary"] == {
        "objects": number,
        "same": 0,
        "different": number,
        "failed": 0,
        "changes": [
            {"kind": "ConfigMap", "action": "change", "later": "", "count": number},
            {"kind": "ManifestWork", "action": "change", "later": "at its next generation", "count": number},
            {"kind": "Secret", "action": "change", "later": "at its next generation", "count": number},
        ],
        "statuses": {"count": number, "transitions": {"Available True -> False": number}},
        "calls": 0,
    }
    assert "second" not in answer.text
    assert await served.state() == before
