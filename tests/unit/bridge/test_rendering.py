"""The objects of a bridge."""

import json
from dataclasses import replace
from typing import Any

from dpu_bridge.api.bridge import Bridge, bridge_of
from dpu_bridge.api.kinds import OWNER_LABEL
from dpu_bridge.render import hosted_cluster as rendering
from dpu_bridge.render import metallb, ownership, secrets
from tests.support.bridges import bridge_object, changed, fresh, stored

ADDRESS = "192.0.2.1"


def bridge(**changes: Any) -> Bridge:
    return fresh(**changes).bridge


def spec(made: Bridge) -> dict[str, object]:
    cluster = rendering.hosted_cluster(made, release_image="r:1", node_address=ADDRESS, present=None)
    content: dict[str, object] = cluster["spec"]
    return content


def test_a_load_balanced_control_plane_has_one_load_balancer_and_three_routes() -> None:
    services = spec(bridge())["services"]
    assert isinstance(services, list)
    assert [(each["service"], each["servicePublishingStrategy"]["type"]) for each in services] == [
        ("APIServer", "LoadBalancer"),
        ("OAuthServer", "Route"),
        ("Konnectivity", "Route"),
        ("Ignition", "Route"),
    ]


def test_node_ports_have_the_nodes_address() -> None:
    services = spec(bridge(exposeThroughLoadBalancer=False, metalLBVirtualIP=None))["services"]
    assert isinstance(services, list)
    assert {each["servicePublishingStrategy"]["nodePort"]["address"] for each in services} == {ADDRESS}
    assert len(services) == 5


def test_both_availability_policies_and_the_storage_class_are_the_bridges() -> None:
    made = spec(
        bridge(
            controlPlaneAvailabilityPolicy="SingleReplica",
            infrastructureAvailabilityPolicy="HighlyAvailable",
            etcdStorageClass="fast",
        )
    )
    assert made["controllerAvailabilityPolicy"] == "SingleReplica"
    assert made["infrastructureAvailabilityPolicy"] == "HighlyAvailable"
    assert '"storageClassName": "fast"' in json.dumps(made["etcd"])
    assert "storageClassName" not in json.dumps(spec(bridge())["etcd"])


def test_the_infra_id_is_the_same_each_time_and_another_for_another_bridge() -> None:
    assert rendering.infra_id(bridge()) == rendering.infra_id(bridge())
    assert rendering.infra_id(bridge()) != rendering.infra_id(replace(bridge(), uid="other"))


def test_immutable_fields_are_taken_over_from_what_is_there() -> None:
    present = changed(
        rendering.hosted_cluster(bridge(), release_image="r:1", node_address="", present=None),
        "spec.networking",
        {"networkType": "Calico"},
    )
    made = rendering.hosted_cluster(bridge(), release_image="r:2", node_address="", present=present)
    assert made["spec"]["networking"] == {"networkType": "Calico"}
    assert made["spec"]["release"] == {"image": "r:2"}


def test_the_ignition_override_is_a_machine_config_in_a_config_map_that_the_node_pool_names() -> None:
    config_map = secrets.machine_config(bridge(), "r/bluefield:1")
    machine_config = json.loads(config_map["data"]["config"])
    assert (machine_config["kind"], machine_config["spec"]) == ("MachineConfig", {"osImageURL": "r/bluefield:1"})
    pool = rendering.node_pool(bridge(), release_image="r:1")
    assert pool["spec"]["config"] == [{"name": config_map["metadata"]["name"]}]


def test_a_pool_has_one_address_of_either_family() -> None:
    assert metallb.address_pool(bridge(), "m")["spec"]["addresses"] == ["192.0.2.10/32"]
    six = bridge(metalLBVirtualIP="2001:DB8::0:1")
    assert metallb.address_pool(six, "m")["spec"]["addresses"] == ["2001:db8::1/128"]


def test_bridges_of_one_name_in_two_namespaces_do_not_collide() -> None:
    here, there = (bridge_of(stored(bridge_object(namespace=each))) for each in ("a", "b"))
    names = [
        (metallb.address_pool(each, "m"), metallb.advertisement(each, "m"), secrets.kubeconfig(each, ""))
        for each in (here, there)
    ]
    for one, other in zip(*names, strict=True):
        assert one["metadata"]["name"] != other["metadata"]["name"]


def test_a_bridge_knows_its_own_objects_even_if_its_names_are_long() -> None:
    long = bridge_of(stored(bridge_object(name="n" * 60, namespace="s" * 60)))
    like = bridge_of(stored(bridge_object(name="n" * 61, namespace="s" * 60)))
    made = secrets.ssh_key(long, "")
    assert len(made["metadata"]["labels"][OWNER_LABEL]) <= 63
    assert ownership.is_owned(long, made)
    assert not ownership.is_owned(like, made)
