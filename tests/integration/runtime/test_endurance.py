"""A dispatcher that is killed, replaced and kept busy."""

from tests.support.dispatcher import LabSystem
from tests.support.endurance import stay_small, survive_crashes, survive_shutdowns


async def test_after_crashes_at_random_every_cluster_has_the_right_status(system: LabSystem) -> None:
    await survive_crashes(system, seed=14)


async def test_at_shutdowns_with_runs_in_flight_no_event_is_lost_and_no_status_sent_twice(system: LabSystem) -> None:
    await survive_shutdowns(system, seed=14)


async def test_memory_files_and_tasks_do_not_grow_with_the_number_of_events(system: LabSystem) -> None:
    await stay_small(system)
