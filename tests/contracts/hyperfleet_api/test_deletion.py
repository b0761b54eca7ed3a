"""How a resource goes: marked, finalised by its adapters, removed; and what stands in the way."""

import pytest

from tests.support.hyperfleet_api import (
    CLUSTER_ADAPTERS,
    Api,
    condition_of,
    conditions,
    not_in_v0_3_0,
    problem,
)

FINALIZED = conditions("False", finalized="True")


async def test_a_deleted_cluster_is_marked_and_starts_a_generation(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.reconcile(cluster)

    deleted = await api.delete(cluster)

    assert deleted["generation"] == 2
    assert deleted["deleted_time"]
    assert deleted["deleted_by"] == "system@hyperfleet.local"
    reconciled = condition_of(deleted, "Reconciled")
    assert (reconciled["status"], reconciled["observed_generation"]) == ("False", 2)


async def test_deleting_again_changes_no_generation(api: Api) -> None:
    cluster = await api.create_cluster()
    first = await api.delete(cluster)

    second = await api.delete(cluster)

    assert (second["generation"], second["deleted_time"]) == (2, first["deleted_time"])


async def test_a_deleted_cluster_is_still_read_and_listed(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.delete(cluster)

    assert (await api.reread(cluster))["deleted_time"]
    assert (await api.get("/clusters", search=f"id = '{cluster['id']}'"))["total"] == 1


async def test_a_deleted_cluster_takes_no_change_and_no_node_pool(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.delete(cluster)

    path = f"/clusters/{cluster['id']}"
    await api.refused(409, "CNF-003", "PATCH", path, {"spec": {"a": 1}})
    await api.refused(409, "CNF-003", "POST", f"{path}/nodepools", {"kind": "NodePool", "name": "late", "spec": {}})


async def test_a_cluster_goes_with_the_last_report_that_finalises_it(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.delete(cluster)
    await api.accept(cluster, "dns", 2, conditions=FINALIZED)
    assert not await api.is_gone(cluster)

    await api.accept(cluster, "controlplane", 2, conditions=FINALIZED)

    assert await api.is_gone(cluster)
    problem(await api.put(cluster, api.report(generation=2)), 404, "NTF-001")


async def test_finalized_before_the_deletion_says_nothing(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.finalise(cluster, 1)
    await api.delete(cluster)

    await api.finalise(cluster, 1)

    assert not await api.is_gone(cluster)


async def test_finalized_together_with_unknown_is_discarded(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.reconcile(cluster)
    await api.delete(cluster)

    for adapter in CLUSTER_ADAPTERS:
        listed = conditions("Unknown", finalized="True")
        assert (await api.put(cluster, api.report(adapter, 2, conditions=listed))).status_code == 204

    assert not await api.is_gone(cluster)


async def test_available_alone_does_not_finalise(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.delete(cluster)

    after = await api.reconcile(cluster, 2)

    assert condition_of(after, "Reconciled")["status"] == "False"
    assert "Finalized=True" in condition_of(after, "Reconciled")["message"]


async def test_deletion_reaches_the_node_pools(api: Api) -> None:
    cluster = await api.create_cluster()
    pool = await api.create_nodepool(cluster)

    await api.delete(cluster)

    marked = await api.reread(pool)
    assert marked["deleted_time"]
    assert marked["generation"] == 2


async def test_a_node_pool_goes_alone(api: Api) -> None:
    cluster = await api.create_cluster()
    pool = await api.create_nodepool(cluster)
    await api.delete(pool)

    await api.accept(pool, "nodepool", 2, conditions=FINALIZED)

    assert await api.is_gone(pool)
    assert (await api.get(f"/clusters/{cluster['id']}/nodepools"))["total"] == 0
    assert (await api.reread(cluster))["generation"] == 1


async def test_a_cluster_goes_after_its_node_pools(api: Api) -> None:
    cluster = await api.create_cluster()
    pool = await api.create_nodepool(cluster)
    await api.delete(cluster)
    await api.accept(pool, "nodepool", 2, conditions=FINALIZED)

    await api.finalise(cluster, 2)

    assert await api.is_gone(cluster)


async def test_a_cluster_finalised_before_its_node_pools_stays(api: Api) -> None:
    cluster = await api.create_cluster()
    pool = await api.create_nodepool(cluster)
    await api.delete(cluster)

    await api.finalise(cluster, 2)
    await api.accept(pool, "nodepool", 2, conditions=FINALIZED)

    assert await api.is_gone(pool)
    assert not await api.is_gone(cluster)


@not_in_v0_3_0("waits for children that are being deleted as well, so that Sentinel goes on to ask")
async def test_a_cluster_finalised_before_its_node_pools_counts_as_reconciled(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.create_nodepool(cluster)
    await api.delete(cluster)

    await api.finalise(cluster, 2)

    reconciled = condition_of(await api.reread(cluster), "Reconciled")
    assert (reconciled["status"], reconciled["reason"]) == ("True", "ReconciledAll")


async def test_a_further_report_removes_what_was_finalised_too_early(api: Api) -> None:
    cluster = await api.create_cluster()
    pool = await api.create_nodepool(cluster)
    await api.delete(cluster)
    await api.finalise(cluster, 2)
    await api.accept(pool, "nodepool", 2, conditions=FINALIZED)

    await api.accept(cluster, "controlplane", 2, conditions=FINALIZED)

    assert await api.is_gone(cluster)


async def test_a_forced_deletion_removes_a_cluster_with_its_node_pools(api: Api) -> None:
    cluster = await api.create_cluster()
    pool = await api.create_nodepool(cluster)
    await api.delete(cluster)

    await api.expect(204, "POST", f"/clusters/{cluster['id']}/force-delete", {"reason": "stuck"})

    assert await api.is_gone(cluster)
    assert await api.is_gone(pool)
    await api.refused(404, "NTF-001", "POST", f"/clusters/{cluster['id']}/force-delete", {"reason": "stuck"})


async def test_a_forced_deletion_removes_a_node_pool(api: Api) -> None:
    cluster = await api.create_cluster()
    pool = await api.create_nodepool(cluster)
    await api.delete(pool)

    await api.expect(204, "POST", f"/clusters/{cluster['id']}/nodepools/{pool['id']}/force-delete", {"reason": "stuck"})

    assert await api.is_gone(pool)
    assert not await api.is_gone(cluster)


async def test_only_what_is_being_deleted_is_forced(api: Api) -> None:
    cluster = await api.create_cluster()

    await api.refused(409, "CNF-003", "POST", f"/clusters/{cluster['id']}/force-delete", {"reason": "stuck"})


@pytest.mark.parametrize("reason", ["", "x" * 1025])
async def test_a_forced_deletion_says_why(api: Api, reason: str) -> None:
    cluster = await api.create_cluster()
    await api.delete(cluster)

    await api.refused(400, "VAL-000", "POST", f"/clusters/{cluster['id']}/force-delete", {"reason": reason})
