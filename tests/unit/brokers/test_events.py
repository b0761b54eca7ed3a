"""What a message says, and which object it is about."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatcher.brokers.events import parse
from shared.errors import Invalid

# As Sentinel sends it, in its order.
CAPTURED = {
    "specversion": "1.0",
    "id": "01a1e1b6-aab7-758f-9e9a-90dad7880f3b",
    "source": "hyperfleet-sentinel",
    "type": "com.redhat.hyperfleet.cluster.reconcile",
    "datacontenttype": "application/json",
    "data": {"generation": 1, "href": "/api/hyperfleet/v1/clusters/01a1", "id": "01a1", "kind": "Cluster"},
}
OWNER = {"href": "/api/hyperfleet/v1/clusters/01a1", "id": "01a1", "kind": "Cluster"}


def message(data: Any = None, **attributes: Any) -> bytes:
    content = {**CAPTURED, **attributes}
    if data is not None:
        content["data"] = data
    return json.dumps({name: value for name, value in content.items() if value is not ...}).encode()


def test_an_event_as_sentinel_sends_it() -> None:
    key, event = parse(message())
    assert str(key) == "Cluster/01a1"
    assert (event.id, event.type, event.source) == (CAPTURED["id"], CAPTURED["type"], "hyperfleet-sentinel")
    assert event.data == CAPTURED["data"]
    assert event.extensions == {}


def test_the_trace_context_is_an_extension() -> None:
    _, event = parse(message(traceparent="00-" + "a" * 32 + "-" + "b" * 16 + "-01"))
    assert event.extensions == {"traceparent": "00-" + "a" * 32 + "-" + "b" * 16 + "-01"}


def test_a_node_pool_names_its_owner() -> None:
    data = {"id": "np", "kind": "NodePool", "generation": 2, "owner_references": OWNER, "region": "eu"}
    key, event = parse(message(data, type="com.redhat.hyperfleet.nodepool.reconcile"))
    assert str(key) == "NodePool/np"
    assert event.data == data


@pytest.mark.parametrize(
    ("data", "event_type", "expected"),
    [
        ({"href": "/api/hyperfleet/v1/clusters/c1"}, "x", "Cluster/c1"),
        ({"href": "/api/hyperfleet/v1/clusters/c1/nodepools/n1/"}, "x", "NodePool/n1"),
        ({"id": "c1"}, "com.redhat.hyperfleet.cluster.reconcile", "Cluster/c1"),
        ({"id": "c1"}, "com.redhat.hyperfleet.Cluster.reconcile", "Cluster/c1"),
        ({"id": "n1"}, "com.redhat.hyperfleet.nodepool.reconcile", "NodePool/n1"),
        ({"id": "w1"}, "com.redhat.hyperfleet.WifConfig.reconcile", "WifConfig/w1"),
        ({"id": "c1", "kind": "Cluster", "href": "/other/things/z"}, "x", "Cluster/c1"),
    ],
    ids=[
        "href of a cluster",
        "href of a node pool",
        "type",
        "old type",
        "type of a node pool",
        "another kind",
        "own members first",
    ],
)
def test_what_is_missing_is_taken_from_href_and_type(data: dict[str, Any], event_type: str, expected: str) -> None:
    key, event = parse(message(data, type=event_type))
    assert str(key) == expected
    assert (event.data["id"], event.data["kind"]) == (key.id, key.kind)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not a CloudEvent"),
        (b"\xff\xfe", "not a CloudEvent"),
        (b"{", "not a CloudEvent"),
        (b"[]", "not a CloudEvent"),
        (b"[" * 100_000, "not a CloudEvent"),
        (b'"text"', "not a CloudEvent"),
        (message(specversion="2.0"), "not a CloudEvent"),
        (message(source=...), "not a CloudEvent"),
        (message(type=7), "not a CloudEvent"),
        (message(time="yesterday"), "not a CloudEvent"),
        (message([1]), "not a JSON object"),
        (message("text"), "not a JSON object"),
        (message(data=..., data_base64="e30"), "CloudEvent"),
        (message(data=..., data_base64="eyc="), "not JSON"),
        (message({"id": 7, "kind": "Cluster"}), "id: must be a string"),
        (message({"id": "a", "kind": ["Cluster"]}), "kind: must be a string"),
        (message({"id": "a", "kind": "Cluster", "generation": "3"}), "generation: must be an integer"),
        (message({"id": "a", "kind": "Cluster", "generation": 1.5}), "generation: must be an integer"),
        (message({"id": "a", "kind": "Cluster", "generation": True}), "generation: must be an integer"),
        (message({"id": "a", "kind": "NodePool", "owner_references": [OWNER]}), "owner_references: must be an object"),
        (
            message({"id": "a", "kind": "NodePool", "owner_references": {"id": 1}}),
            "owner_references.id: must be a string",
        ),
        (message(data=...), "which object"),
        (message({"kind": "Cluster"}), "which object"),
        (message({"id": "a"}, type="plain"), "of which kind"),
    ],
)
def test_a_body_that_is_no_event_about_an_object_is_refused_with_the_reason(body: bytes, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        parse(body)


def test_half_a_surrogate_pair_is_read_as_go_reads_it() -> None:
    """As a text with it no request, log line or metric could be written, and its run would fail for ever."""
    half = "\ud83d"
    key, event = parse(message({"id": f"a{half}", "kind": "Cluster", "note": half}, id=f"e{half}", traceparent=half))
    assert str(key) == "Cluster/a\ufffd"
    assert event.id == "e\ufffd"
    assert event.data["note"] == event.extensions["traceparent"] == "\ufffd"


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_else(body: bytes) -> None:
    with pytest.raises(Invalid):
        parse(body)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
members = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("id", "kind", "href", "generation", "owner_references"), json_values)
)


@given(
    data=members | json_values,
    attributes=st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("id", "type", "source", "time", "extra"), json_values)
    ),
)
def test_no_event_raises_anything_else(data: Any, attributes: dict[str, Any]) -> None:
    try:
        key, event = parse(json.dumps({**CAPTURED, **attributes, "data": data}).encode())
    except Invalid:
        return
    assert key.id
    assert key.kind
    assert event.data["id"] == key.id
