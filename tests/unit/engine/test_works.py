"""ManifestWorks as resources, and the manifests inside them."""

from typing import Any

from dispatcher.engine.runs import Phase
from tests.unit.engine.building import (
    MapManifest,
    made,
    manifest,
    nested,
    operations,
    replace_transports,
    resource,
    stage,
    template,
)

NAMESPACE = manifest("Namespace", "{{ .id }}")
WORK = MapManifest(
    "work.open-cluster-management.io/v1",
    "ManifestWork",
    {
        "apiVersion": "work.open-cluster-management.io/v1",
        "kind": "ManifestWork",
        "metadata": {"name": "work-{{ .id }}", "annotations": {"hyperfleet.io/generation": "{{ .generation }}"}},
        "spec": {
            "workload": {
                "manifests": [
                    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x", "labels": {"a": "b"}}},
                    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}},
                ]
            }
        },
    },
)
REPORTED = {
    "resourceStatus": {
        "manifests": [
            {
                "resourceMeta": {"group": "", "kind": "ConfigMap", "name": "x"},
                "conditions": [{"type": "Applied"}],
                "statusFeedback": {"values": [1]},
            },
            {"resourceMeta": {"group": "", "kind": "Namespace", "name": "x"}, "conditions": [{"type": "Available"}]},
        ]
    }
}


def maestro(**more: Any) -> Any:
    return resource("work", WORK, transport="maestro", target_cluster=template("mc1"), **more)


async def test_a_work_is_created_for_its_consumer_and_its_manifests_are_seen() -> None:
    play = stage(maestro(nested=(nested("space", labels={"a": "b"}), nested("missing", by_name="nothing"))))

    result = await play.run()

    assert operations(result) == ["create"]
    assert result.discovered["work"]["metadata"]["namespace"] == "mc1"
    assert result.discovered["space"]["kind"] == "Namespace"
    assert "missing" not in result.discovered


async def test_nested_manifests_carry_what_is_reported_of_their_own_kind() -> None:
    """Row 24: the Go program takes the first of that name."""
    existing = {
        **made("ManifestWork", "work-c1", generation=5, api_version=WORK.api_version, namespace="mc1"),
        "spec": WORK.document["spec"],
        "status": REPORTED,
    }
    play = stage(maestro(nested=(nested("space", labels={"a": "b"}),)), existing={"work-c1": existing})

    result = await play.run()

    assert result.discovered["space"]["conditions"] == [{"type": "Available"}]
    assert "statusFeedback" not in result.discovered["space"]


async def test_nested_manifests_are_seen_by_lifecycle_conditions() -> None:
    """Row 24: the Go program discovers them only afterwards."""
    existing = {
        **made("ManifestWork", "work-c1", generation=5, api_version=WORK.api_version, namespace="mc1"),
        "spec": WORK.document["spec"],
    }
    play = stage(
        maestro(nested=(nested("space", labels={"a": "b"}),)),
        resource("ns", NAMESPACE, create_when="resources.?space.hasValue()"),
        existing={"work-c1": existing},
    )

    assert operations(await play.run()) == ["skip", "create"]


async def test_a_work_stays_until_the_agent_has_confirmed() -> None:
    play = stage(
        maestro(delete_when="true"),
        existing={
            "work-c1": made("ManifestWork", "work-c1", generation=5, api_version=WORK.api_version, namespace="mc1")
        },
    )

    result = await play.run()

    assert result.discovered["work"]["metadata"]["deletionTimestamp"]
    assert [each.consumer for each in result.awaited_deletions] == ["mc1"]


async def test_a_nested_name_that_is_taken_fails_the_resource() -> None:
    play = stage(maestro(nested=(nested("ns", by_name="x"),)), resource("ns", NAMESPACE))

    result = await play.run()

    assert "takes a name that is already used" in result.errors[Phase.RESOURCES]


async def test_a_resource_without_its_transport_fails_by_itself() -> None:
    """Row 13: transports are chosen per resource."""
    play = stage(resource("ns", NAMESPACE), resource("work", WORK, transport="maestro", target_cluster=None))
    play.engine = type(play.engine)(play.adapter, replace_transports(play, kubernetes=play.kubernetes))

    result = await play.run()

    assert operations(result) == ["create", "failed"]
    assert "configure clients.maestro" in result.errors[Phase.RESOURCES]
