"""Several replicas of one adapter."""

from tests.support.dispatcher import LabSystem
from tests.support.replicas import compare_replicas, take_over


async def test_two_replicas_with_different_clocks_do_not_undo_each_others_work(system: LabSystem) -> None:
    await compare_replicas(system, clusters=10)


async def test_the_replica_that_is_left_takes_over_the_watches(system: LabSystem) -> None:
    await take_over(system)
