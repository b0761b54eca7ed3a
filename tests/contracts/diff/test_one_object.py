"""`diff` of single objects: creations, changes and deletions as a person reads them, and what is refused."""

from shared.kubernetes import Selection
from tests.contracts.diff.conftest import Fleet, superseding_job, task
from tests.support.kubernetes import unique


async def test_a_new_cluster_shows_all_that_would_be_created(fleet: Fleet) -> None:
    cluster = fleet.api.add_cluster("new")

    answer = await fleet.diff(task(), "--id", cluster.id)

    assert answer.code == 1, answer.errors
    assert answer.text.splitlines()[0] == (
        f"Cluster new {cluster.id} generation 1: create Namespace, create ConfigMap, create Secret,"
        " create ManifestWork, report Applied none -> True; Available none -> True; Health none -> True"
    )
    assert "+  greeting: hello" in answer.text
    assert "+  password: '***'" in answer.text
    assert await fleet.maestro.works(fleet.environment["CONTRACT_CONSUMER"]).list() == []


async def test_a_change_is_a_unified_diff_without_the_values_of_secrets(fleet: Fleet) -> None:
    cluster = fleet.api.add_cluster("one")
    await fleet.serve(task())

    answer = await fleet.diff(task(greeting="goodbye", password="second"), "--id", cluster.id)

    lines = answer.text.splitlines()
    assert answer.code == 1, answer.errors
    assert f"--- live    ConfigMap diff-{cluster.id}/settings" in lines
    assert f"+++ config  ConfigMap diff-{cluster.id}/settings (at its next generation)" in lines
    assert {"-  greeting: hello", "+  greeting: goodbye"} <= set(lines)
    assert {"-  password: '*** (before)'", "+  password: '*** (after)'"} <= set(lines)
    assert "second" not in answer.text


async def test_a_new_generation_changes_what_the_next_run_finds(fleet: Fleet) -> None:
    cluster = fleet.api.add_cluster("one")
    await fleet.serve(task())
    fleet.api.store.patch(cluster, spec={"nodes": 3})

    answer = await fleet.diff(task(), "--id", cluster.id, "-o", "json")

    (found,) = answer.document["objects"]
    assert [(each["action"], each["kind"], each["later"]) for each in found["changes"]] == [
        ("change", kind, "") for kind in ("Namespace", "ConfigMap", "Secret", "ManifestWork")
    ]
    assert found["statuses"][0]["after"]["observed_generation"] == found["generation"] == 2


async def test_a_cluster_that_is_deleted_shows_its_deletions_in_their_order(fleet: Fleet) -> None:
    document = task()
    condition = {"when": {"expression": 'cluster.?deleted_time.orValue("") != ""'}}
    for resource in document["resources"]:
        resource["lifecycle"] = {"delete": condition}
    document["resources"].reverse()
    cluster = fleet.api.add_cluster("old")
    await fleet.serve(task())
    fleet.api.store.delete(cluster)
    before = await fleet.state()

    answer = await fleet.diff(document, "--id", cluster.id, "-o", "json")

    (found,) = answer.document["objects"]
    assert {(each["action"], each["kind"]) for each in found["changes"]} == {
        ("delete", kind) for kind in ("Namespace", "ConfigMap", "Secret", "ManifestWork")
    }
    assert await fleet.state() == before


async def test_only_clusters_with_the_labels_are_compared(fleet: Fleet) -> None:
    for number in range(4):
        fleet.api.add_cluster(f"c{number}", labels={"region": "east" if number % 2 else "west"})

    answer = await fleet.diff(task(), "-l", "region=east", "-o", "json")

    assert [each["name"] for each in answer.document["objects"]] == ["c1", "c3"]


async def test_an_object_that_cannot_be_compared_ends_with_2(fleet: Fleet) -> None:
    fleet.api.add_cluster("one")
    document = task()
    document["resources"][3]["transport"]["maestro"]["target_cluster"] = "nobody"

    answer = await fleet.diff(document, "--all")

    assert answer.code == 2
    assert "! work: management cluster 'nobody' is not registered in Maestro" in answer.text
    assert "1 objects: 0 same, 0 different, 1 failed" in answer.text


async def test_an_unknown_id_is_an_error_that_says_so(fleet: Fleet) -> None:
    answer = await fleet.diff(task(), "--id", "nobody")

    assert answer.code == 2
    assert "404" in answer.errors
    assert "correct --id" in answer.errors


async def test_a_job_that_supersedes_another_shows_both(fleet: Fleet) -> None:
    namespace = unique("jobs")
    await fleet.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    document = task()
    document["resources"] = [superseding_job(namespace)]
    cluster = fleet.api.add_cluster("one")
    await fleet.serve(document)
    fleet.api.store.patch(cluster, spec={"nodes": 3})

    answer = await fleet.diff(document, "--id", cluster.id, "-o", "json")

    (found,) = answer.document["objects"]
    assert [(each["action"], each["name"]) for each in found["changes"]] == [
        ("delete", f"job-{cluster.id}-1"),
        ("create", f"job-{cluster.id}-2"),
    ], answer.errors
    jobs = await fleet.client.list(Selection(api_version="batch/v1", kind="Job", namespace=namespace))
    assert [job["metadata"]["name"] for job in jobs] == [f"job-{cluster.id}-1"]
    assert "deletionTimestamp" not in jobs[0]["metadata"]
