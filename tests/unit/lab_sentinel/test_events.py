"""Sentinel's event on the wire, compared with one that was captured from the real Sentinel."""

import json
import re
from datetime import UTC, datetime

from lab.sentinel.events import reconcile_event

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
CLUSTER = {"kind": "Cluster", "id": "c1", "href": "/api/hyperfleet/v1/clusters/c1", "generation": 3, "name": "x"}
NODEPOOL = {
    "kind": "NodePool",
    "id": "p1",
    "href": "/api/hyperfleet/v1/clusters/c1/nodepools/p1",
    "generation": 1,
    "owner_references": {"kind": "Cluster", "id": "c1", "href": "/api/hyperfleet/v1/clusters/c1"},
}


def test_the_event_of_a_cluster_byte_for_byte() -> None:
    event = reconcile_event(CLUSTER, NOW)

    assert (
        event.body
        == (
            b'{"specversion":"1.0","id":"%s","source":"hyperfleet-sentinel",'
            b'"type":"com.redhat.hyperfleet.cluster.reconcile","datacontenttype":"application/json",'
            b'"data":{"generation":3,"href":"/api/hyperfleet/v1/clusters/c1","id":"c1","kind":"Cluster"}}'
        )
        % event.id.encode()
    )


def test_the_event_of_a_node_pool_names_its_cluster_where_sentinel_is_configured_so() -> None:
    event = json.loads(reconcile_event(NODEPOOL, NOW, owner_references=True).body)

    assert event["type"] == "com.redhat.hyperfleet.nodepool.reconcile"
    assert list(event["data"]) == ["generation", "href", "id", "kind", "owner_references"]
    assert list(event["data"]["owner_references"].items()) == [
        ("href", "/api/hyperfleet/v1/clusters/c1"),
        ("id", "c1"),
        ("kind", "Cluster"),
    ]
    assert "owner_references" not in json.loads(reconcile_event(NODEPOOL, NOW).body)["data"]


def test_tracing_appends_a_trace_context() -> None:
    event = json.loads(reconcile_event(CLUSTER, NOW, tracing=True).body)

    assert list(event)[-1] == "traceparent"
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", event["traceparent"])


def test_every_event_has_an_id_of_its_own() -> None:
    assert reconcile_event(CLUSTER, NOW).id != reconcile_event(CLUSTER, NOW).id
