"""When a Sentinel announces a resource, and when it leaves it alone.

Times are compared, never waited for: an event tells when it was published, the API when it last updated a resource.
"""

from datetime import datetime

from shared import times
from tests.support.hyperfleet_api import Document, condition_of, conditions
from tests.support.sentinels import DEBOUNCE, STALE, Watched


def reported(resource: Document) -> datetime:
    return times.parse(condition_of(resource, "Reconciled")["last_updated_time"])


async def test_a_new_cluster_is_announced_after_the_debounce(watched: Watched) -> None:
    cluster = await watched.create_cluster()

    [first] = await watched.clusters.next_of(cluster)

    assert first.published >= reported(cluster) + DEBOUNCE
    assert first.data["generation"] == 1


async def test_a_cluster_that_nobody_reports_is_announced_with_every_turn(watched: Watched) -> None:
    cluster = await watched.create_cluster()

    events = await watched.clusters.next_of(cluster, 4)

    assert len({each.event["id"] for each in events}) == 4


async def test_a_first_report_of_unknown_changes_nothing(watched: Watched) -> None:
    cluster = await watched.create_cluster()
    await watched.clusters.next_of(cluster)

    await watched.api.accept(cluster, conditions=conditions("Unknown"))

    turn = await watched.next_turn()
    await watched.clusters.next_of(cluster, 2, since=turn)


async def test_a_report_of_false_gives_quiet_for_the_debounce(watched: Watched) -> None:
    cluster = await watched.create_cluster()
    for adapter in ("controlplane", "dns"):
        await watched.api.accept(cluster, adapter, conditions=conditions("False"))
    last = reported(await watched.api.reread(cluster))

    turn = await watched.next_turn()

    first, _ = await watched.clusters.next_of(cluster, 2, since=turn)
    assert first.published >= last + DEBOUNCE


async def test_a_reconciled_cluster_is_left_alone_until_its_report_is_stale(watched: Watched) -> None:
    cluster = await watched.create_cluster()
    last = reported(await watched.api.reconcile(cluster))

    turn = await watched.next_turn()

    [first] = await watched.clusters.next_of(cluster, since=turn)
    assert first.published >= last + STALE


async def test_a_stale_cluster_is_announced_with_every_turn_until_it_is_reported_again(watched: Watched) -> None:
    cluster = await watched.create_cluster()
    await watched.api.reconcile(cluster)
    turn = await watched.next_turn()
    await watched.clusters.next_of(cluster, 3, since=turn)

    last = reported(await watched.api.reconcile(cluster))

    turn = await watched.next_turn()
    [again] = await watched.clusters.next_of(cluster, since=turn)
    assert again.published >= last + STALE


async def test_a_change_is_announced_with_its_generation_after_the_debounce(watched: Watched) -> None:
    cluster = await watched.create_cluster()
    await watched.api.reconcile(cluster)

    changed = await watched.api.patch(cluster, spec={"replicas": 3})

    turn = await watched.next_turn()
    [first] = await watched.clusters.next_of(cluster, since=turn)
    assert first.data["generation"] == 2
    assert first.published >= reported(changed) + DEBOUNCE


async def test_a_deletion_is_announced_with_its_generation_after_the_debounce(watched: Watched) -> None:
    cluster = await watched.create_cluster()
    await watched.api.reconcile(cluster)

    deleted = await watched.api.delete(cluster)

    turn = await watched.next_turn()
    [first] = await watched.clusters.next_of(cluster, since=turn)
    assert first.data["generation"] == 2
    assert first.published >= reported(deleted) + DEBOUNCE


async def test_a_cluster_that_is_gone_is_not_announced(watched: Watched) -> None:
    cluster = await watched.create_cluster()
    await watched.clusters.next_of(cluster)
    deleted = await watched.api.delete(cluster)
    await watched.api.finalise(cluster, deleted["generation"])
    assert await watched.api.is_gone(cluster)

    gone = await watched.next_turn()

    await watched.next_turn()
    assert watched.clusters.positions(cluster, since=gone) == []


async def test_every_page_of_the_list_is_read(watched: Watched) -> None:
    clusters = [await watched.create_cluster() for _ in range(25)]

    for cluster in clusters:
        await watched.clusters.next_of(cluster)


async def test_a_cluster_without_the_selected_label_is_not_announced(watched: Watched) -> None:
    other = await watched.create_cluster(labels={"contract": "another"})
    later = await watched.create_cluster()

    await watched.clusters.next_of(later, 2)

    assert watched.clusters.positions(other) == []


async def test_a_node_pool_is_announced_after_the_debounce_on_the_topic_of_node_pools(watched: Watched) -> None:
    cluster = await watched.create_cluster()
    nodepool = await watched.create_nodepool(cluster)

    [first] = await watched.nodepools.next_of(nodepool)

    assert first.published >= reported(nodepool) + DEBOUNCE
    await watched.next_turn()
    assert watched.clusters.positions(nodepool) == []
    assert watched.nodepools.positions(cluster) == []
