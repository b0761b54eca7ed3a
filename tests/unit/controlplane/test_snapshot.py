"""The cluster snapshot: what it holds, the published schema, and everything that can be wrong with it."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from controlplane_adapter.hostedcluster.render_settings import SERVICE_ACCOUNT_ROLES
from controlplane_adapter.hostedcluster.sources import SOURCES
from shared.errors import Invalid
from shared.model.snapshot import ClusterSnapshot, schema
from shared.untrusted_json import MAX_BYTES, MAX_DEPTH

VALIDATOR = Draft202012Validator(schema())
# As the HyperFleet API returns it, with all that a snapshot does not look at.
CLUSTER = {
    "id": "01a1e1b5-b1dd-7455-8ad4-45d9597dff66",
    "kind": "Cluster",
    "name": "c-1794788143",
    "href": "/api/hyperfleet/v1/clusters/01a1e1b5-b1dd-7455-8ad4-45d9597dff66",
    "generation": 4,
    "spec": {"gcp_project_id": "p", "nested": {"list": [1, 2.5, None, True]}},
    "labels": {"env": "dev"},
    "tenancy": {},
    "created_time": "2026-11-16T00:15:43.581284899Z",
    "created_by": "system@hyperfleet.local",
    "status": {"conditions": [{"type": "Reconciled", "status": "False"}]},
}
WHOLE = {
    "cluster": CLUSTER | {"deleted_time": "2026-11-17T01:02:03.123456789Z", "deleted_by": "somebody"},
    "nodepools": {"total": 2, "items": []},
    "adapters": {"dns": {"base_domain": "example.com"}, "validation": {}},
    "event": {"id": "1"},
}


def document(**changes: Any) -> bytes:
    """The whole snapshot with these members of its cluster changed; one that becomes None is absent."""
    cluster = {key: value for key, value in {**CLUSTER, **changes}.items() if value is not None}
    return json.dumps({"cluster": cluster}).encode()


def problems(content: bytes) -> set[str]:
    """The paths of all that is reported; an empty set for a good snapshot."""
    try:
        ClusterSnapshot.parse(content)
    except Invalid as error:
        return {each.path for each in error.problems}
    return set()


def test_a_whole_snapshot_is_read() -> None:
    assert ClusterSnapshot.parse(json.dumps(WHOLE).encode()) == ClusterSnapshot(
        cluster_id="01a1e1b5-b1dd-7455-8ad4-45d9597dff66",
        name="c-1794788143",
        generation=4,
        spec={"gcp_project_id": "p", "nested": {"list": [1, 2.5, None, True]}},
        labels={"env": "dev"},
        deleted_time=datetime(2026, 11, 17, 1, 2, 3, 123456, UTC),
        node_pools=2,
        adapters={"dns": {"base_domain": "example.com"}, "validation": {}},
    )


def test_what_is_not_reported_is_not_known() -> None:
    small = ClusterSnapshot.parse(document(labels=None, spec={}))
    assert (small.labels, small.deleted_time, small.node_pools, small.adapters) == ({}, None, None, {})


@pytest.mark.parametrize("member", ["nodepools", "adapters"])
def test_a_member_may_be_null(member: str) -> None:
    assert ClusterSnapshot.parse(json.dumps({"cluster": CLUSTER, member: None}).encode()).name == "c-1794788143"


def test_an_adapter_without_data_has_none() -> None:
    content = json.dumps({"cluster": CLUSTER, "adapters": {"dns": None}}).encode()
    assert ClusterSnapshot.parse(content).adapters == {"dns": {}}


def test_no_node_pools_is_something_else_than_not_known() -> None:
    assert ClusterSnapshot.parse(json.dumps({"cluster": CLUSTER, "nodepools": {"total": 0}}).encode()).node_pools == 0
    assert ClusterSnapshot.parse(json.dumps({"cluster": CLUSTER, "nodepools": {}}).encode()).node_pools is None


def test_a_byte_order_mark_is_no_part_of_the_snapshot() -> None:
    assert ClusterSnapshot.parse(b"\xef\xbb\xbf" + document()).generation == 4


@pytest.mark.parametrize(
    ("content", "paths"),
    [
        (b"{}", {"cluster"}),
        (b'{"cluster": []}', {"cluster"}),
        (b'{"cluster": null}', {"cluster"}),
        (b'{"cluster": {"kind": "Cluster"}}', {"cluster.id", "cluster.name", "cluster.generation", "cluster.spec"}),
        (document(id=5), {"cluster.id"}),
        (document(id=""), {"cluster.id"}),
        (document(name=["x"]), {"cluster.name"}),
        (document(generation=0), {"cluster.generation"}),
        (document(generation=-1), {"cluster.generation"}),
        (document(generation="4"), {"cluster.generation"}),
        (document(generation=True), {"cluster.generation"}),
        (document(generation=1.5), {"cluster.generation"}),
        (document(spec=[]), {"cluster.spec"}),
        (document(spec=None), {"cluster.spec"}),
        (document(labels={"env": 5}), {"cluster.labels.env"}),
        (document(labels="env"), {"cluster.labels"}),
        (document(deleted_time="yesterday"), {"cluster.deleted_time"}),
        (document(deleted_time="2026-11-17T01:02:03"), {"cluster.deleted_time"}),
        (document(deleted_time=5), {"cluster.deleted_time"}),
        (json.dumps({"cluster": CLUSTER, "nodepools": {"total": "2"}}).encode(), {"nodepools.total"}),
        (json.dumps({"cluster": CLUSTER, "nodepools": 2}).encode(), {"nodepools"}),
        (json.dumps({"cluster": CLUSTER, "adapters": {"dns": "x"}}).encode(), {"adapters.dns"}),
        (json.dumps({"cluster": CLUSTER, "adapters": []}).encode(), {"adapters"}),
        (
            json.dumps(
                {"cluster": CLUSTER | {"id": 1, "name": 2, "generation": 0}, "nodepools": {"total": -1}}
            ).encode(),
            {"cluster.id", "cluster.name", "cluster.generation", "nodepools.total"},
        ),
    ],
)
def test_all_that_is_wrong_is_reported_at_once(content: bytes, paths: set[str]) -> None:
    assert problems(content) == paths


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "empty"),
        (b"[]", "must be a JSON object"),
        (b"null", "must be a JSON object"),
        (b'{"cluster": NaN}', "NaN is not a JSON value"),
        (b'{"cluster": {"generation": 1e999}}', "not JSON"),
        (b'{"cluster": "\\ud800"}', "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b'{"cluster": {', "not JSON"),
        (b" " * (MAX_BYTES + 1), "too large"),
        (b'{"a":' * 70 + b"1" + b"}" * 70, "nested too deeply"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
    ],
    ids=["empty", "list", "null", "nan", "overflow", "surrogate", "utf-16", "cut", "large", "deep", "very deep"],
)
def test_what_is_no_snapshot_at_all_is_refused_with_the_reason(content: bytes, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        ClusterSnapshot.parse(content)


def test_the_deepest_snapshot_that_is_taken() -> None:
    value: Any = "x"
    for _ in range(MAX_DEPTH - 4):
        value = [value]
    assert ClusterSnapshot.parse(document(spec={"deep": value})).spec == {"deep": value}


def test_the_schema_names_every_field_that_is_rendered() -> None:
    reported = schema()["$defs"]["clusterSpec"]["properties"]
    read = {source.spec for source in SOURCES.values()} | set(SERVICE_ACCOUNT_ROLES.values())
    read |= {"openshift_version", "release_image", "resource_labels", "service_account_emails"}
    assert set(reported) == read
    described = {path: reported[source.spec]["description"] for path, source in SOURCES.items()}
    assert [path for path, text in described.items() if not text.replace("[]", "").startswith(path)] == []


def test_the_schema_takes_what_the_reader_takes() -> None:
    assert [error.message for error in VALIDATOR.iter_errors(WHOLE)] == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["", "x", "2026-11-17T01:02:03Z"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["total", "dns", "env"]), inner, max_size=2)
    ),
    max_leaves=4,
)
NEAR = st.fixed_dictionaries(
    {
        "cluster": st.dictionaries(
            st.sampled_from(["id", "name", "generation", "spec", "labels", "deleted_time"]), JSON
        ).map(lambda each: CLUSTER | each)
    },
    optional={"nodepools": JSON, "adapters": JSON, "else": JSON},
)


@settings(max_examples=300, deadline=None)
@given(NEAR)
def test_reader_and_schema_agree(candidate: Any) -> None:
    """But for the form of a time, which a schema cannot tell from any other text."""
    reported = problems(json.dumps(candidate).encode())
    assume("cluster.deleted_time" not in reported)
    assert VALIDATOR.is_valid(candidate) == (not reported)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_break_the_reader(content: bytes) -> None:
    with pytest.raises(Invalid):
        ClusterSnapshot.parse(content)
