"""Events on the wire: what servers and agents really send is understood, and what is none breaks nobody."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.maestro.wire.cloudevent_pb2 import CloudEvent, CloudEventAttributeValue
from shared.maestro.wire.codec import (
    DATA_TYPE,
    Attribute,
    Envelope,
    Undecodable,
    spec_request,
    status_resync_request,
    timestamp,
    work_in_status,
)
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestWork

PROPERTY = settings(max_examples=80, deadline=None)
UID = "5e212a26-73ca-5eb1-bc5e-f99ae486da25"
AT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
METADATA = {
    "creationTimestamp": "2026-11-17T02:40:33Z",
    "labels": {"a": "b"},
    "annotations": {"hyperfleet.io/generation": "4"},
    "name": "w",
    "namespace": "mgmt-01",
    "resourceVersion": "0",
    "uid": UID,
}
PAYLOAD = {
    "manifestBundle": {
        "manifests": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}],
        "manifestConfigs": [{"resourceIdentifier": {"resource": "configmaps"}}],
        "deleteOption": {"propagationPolicy": "Orphan"},
        "executer": {"subject": {"type": "ServiceAccount"}},
    },
    "conditions": [{"type": "Applied", "status": "True", "observedGeneration": 1}],
    "resourceStatus": [{"resourceMeta": {"name": "a"}}],
}


def status_event(payload: Any = PAYLOAD, **extensions: Attribute | None) -> Envelope:
    """A status event as a real server sends it, changed as the test says; None takes an extension away."""
    usual: dict[str, Attribute] = {
        "clustername": "mgmt-01",
        "originalsource": "maestro",
        "resourceid": UID,
        "resourceversion": 3,
        "sequenceid": "2000808179734155264",
        "metadata": json.dumps(METADATA),
        "logtracing": "{}",
        "time": timestamp(AT),
    }
    return Envelope(
        id="e1",
        source="mgmt-01-work-agent",
        type=f"{DATA_TYPE}.status.update_request",
        extensions={name: value for name, value in (usual | extensions).items() if value is not None},
        data=json.dumps(payload).encode(),
        content_type="application/json",
    )


def over_the_wire(envelope: Envelope) -> Envelope:
    return Envelope.from_proto(CloudEvent.FromString(envelope.to_proto().SerializeToString()))


class TestAStatusEvent:
    def test_it_gives_the_work_with_its_status(self) -> None:
        work = work_in_status(over_the_wire(status_event()))
        bundle = PAYLOAD["manifestBundle"]
        assert isinstance(bundle, dict)
        assert (work.name, work.consumer, work.uid, work.generation) == ("w", "mgmt-01", UID, 3)
        assert work.labels == {"a": "b"}
        assert work.annotations == {"hyperfleet.io/generation": "4"}
        assert work.created_at == datetime(2026, 11, 17, 2, 40, 33, tzinfo=UTC)
        assert (work.manifests, work.manifest_configs) == (tuple(bundle["manifests"]), tuple(bundle["manifestConfigs"]))
        assert (work.delete_option, work.executor) == (bundle["deleteOption"], bundle["executer"])
        assert work.status.conditions == (Condition(type="Applied", status=Status.TRUE, observed_generation=1),)
        assert [manifest.name for manifest in work.status.manifests] == ["a"]
        assert work.status.sequence_id == 2000808179734155264

    def test_a_work_being_deleted_says_so(self) -> None:
        metadata = json.dumps(METADATA | {"deletionTimestamp": "2026-11-17T03:00:00Z"})
        assert work_in_status(status_event(metadata=metadata)).deleting

    def test_the_version_may_be_a_number_in_a_string(self) -> None:
        assert work_in_status(over_the_wire(status_event(resourceversion="3"))).generation == 3

    def test_times_may_be_strings(self) -> None:
        event = status_event(time="2026-01-02T03:04:05.678901234Z", deletiontimestamp="2026-01-02T03:04:06Z")
        assert work_in_status(over_the_wire(event)).generation == 3

    @pytest.mark.parametrize("metadata", [None, "", "{}"], ids=repr)
    def test_without_metadata_the_id_is_the_name(self, metadata: str | None) -> None:
        work = work_in_status(over_the_wire(status_event(metadata=metadata)))
        assert (work.name, work.consumer, work.labels, work.created_at) == (UID, "mgmt-01", {}, None)

    def test_the_consumer_of_the_event_wins_over_the_metadata(self) -> None:
        assert work_in_status(status_event(clustername="other")).consumer == "other"
        assert work_in_status(status_event(clustername=None)).consumer == "mgmt-01"

    def test_the_version_is_not_the_one_a_client_once_wrote_into_the_metadata(self) -> None:
        metadata = json.dumps(METADATA | {"generation": 99, "resourceVersion": "98"})
        work = work_in_status(status_event(metadata=metadata))
        assert work.generation == 3
        assert work.other_metadata == {}

    @pytest.mark.parametrize(
        "payload", [{"conditions": None}, {}, {"manifestBundle": None, "resourceStatus": None}], ids=repr
    )
    def test_an_agent_that_has_nothing_to_say_is_understood(self, payload: dict[str, Any]) -> None:
        work = work_in_status(over_the_wire(status_event(payload)))
        assert (work.status.conditions, work.status.manifests, work.manifests) == ((), (), ())

    @pytest.mark.parametrize(
        "event",
        [
            pytest.param(status_event(resourceid=None), id="no id"),
            pytest.param(status_event(resourceid=""), id="an empty id"),
            pytest.param(status_event(resourceid=5), id="an id that is a number"),
            pytest.param(status_event(sequenceid=None), id="no sequence id"),
            pytest.param(status_event(resourceversion=None), id="no version"),
            pytest.param(status_event(resourceversion="three"), id="a version that is no number"),
            pytest.param(status_event(resourceversion=True), id="a version that is true"),
            pytest.param(status_event(resourceversion=timestamp(AT)), id="a version that is a time"),
            pytest.param(status_event(metadata="{"), id="cut metadata"),
            pytest.param(status_event(metadata="[" * 100_000), id="endless metadata"),
            pytest.param(status_event(metadata="[]"), id="a list for metadata"),
            pytest.param(status_event([]), id="a list for a payload"),
            pytest.param(status_event("text"), id="a text for a payload"),
        ],
    )
    def test_one_that_lacks_what_it_must_carry_cannot_be_decoded(self, event: Envelope) -> None:
        with pytest.raises(Undecodable):
            work_in_status(over_the_wire(event))

    STRANGE = st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-3, 3)
        | st.just(1e999)
        | st.sampled_from(["", "x", "2026-01-02T03:04:05Z"]),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(
                    [
                        *("manifestBundle", "manifests", "manifestConfigs", "deleteOption", "executer", "conditions"),
                        *("resourceStatus", "labels", "annotations", "name", "namespace", "creationTimestamp"),
                    ]
                ),
                inner,
                max_size=3,
            )
        ),
        max_leaves=6,
    )

    @PROPERTY
    @given(
        payload=STRANGE,
        metadata=STRANGE,
        version=st.sampled_from([3, "3", "x", True]),
        sequence=st.sampled_from(["7", "x", ""]),
    )
    def test_whatever_it_holds_it_is_a_work_or_undecodable(
        self, payload: Any, metadata: Any, version: Attribute, sequence: str
    ) -> None:
        event = status_event(payload, metadata=json.dumps(metadata), resourceversion=version, sequenceid=sequence)
        try:
            work = work_in_status(over_the_wire(event))
        except Undecodable:
            return
        assert all(isinstance(value, str) for value in (*work.labels.values(), *work.annotations.values()))
        assert all(isinstance(manifest, dict) for manifest in work.manifests)


class TestTheEnvelope:
    EXTENSIONS = st.dictionaries(
        st.from_regex(r"[a-z0-9]{1,10}", fullmatch=True),
        st.booleans()
        | st.integers(-(2**31), 2**31 - 1)
        | st.text(st.characters(codec="utf-8"), max_size=10)
        | st.binary(max_size=10)
        | st.integers(0, 2**33).map(lambda seconds: Timestamp(seconds=seconds)),
        max_size=4,
    )

    @PROPERTY
    @given(EXTENSIONS, st.none() | st.binary(max_size=10), st.none() | st.sampled_from(["application/json", ""]))
    def test_it_survives_the_wire(
        self, extensions: dict[str, Attribute], data: bytes | None, content: str | None
    ) -> None:
        envelope = Envelope(id="i", source="s", type="t", extensions=extensions, data=data, content_type=content)
        assert over_the_wire(envelope) == envelope

    def test_empty_text_and_zero_are_sent(self) -> None:
        event = Envelope(
            id="i", source="s", type="t", extensions={"originalsource": "", "resourceversion": 0}
        ).to_proto()
        assert event.attributes["ce-originalsource"].WhichOneof("attr") == "ce_string"
        assert event.attributes["ce-resourceversion"].WhichOneof("attr") == "ce_integer"

    def test_the_content_type_has_no_prefix_and_the_payload_is_binary(self) -> None:
        event = Envelope(id="i", source="s", type="t", data=b"{}", content_type="application/json").to_proto()
        assert event.spec_version == "1.0"
        assert event.attributes["contenttype"].ce_string == "application/json"
        assert event.WhichOneof("data") == "binary_data"

    def test_a_heartbeat_is_read_although_it_has_nothing(self) -> None:
        heartbeat = CloudEvent(id="i", spec_version="1.0", type="io.open-cluster-management.cloudevents.heartbeat")
        assert Envelope.from_proto(heartbeat) == Envelope(id="i", source="", type=heartbeat.type)

    def test_attributes_without_a_value_or_a_prefix_are_left_out(self) -> None:
        event = CloudEvent(id="i", source="s", type="t")
        event.attributes["ce-empty"].CopyFrom(CloudEventAttributeValue())
        event.attributes["foreign"].ce_string = "x"
        assert Envelope.from_proto(event).extensions == {}


class TestARequest:
    WORK = ManifestWork(
        name="w",
        consumer="mgmt-01",
        uid=UID,
        manifests=({"kind": "ConfigMap", "data": {"k": "<é>"}},),
        labels={"a": "b"},
        annotations={"x": "y", "logging.open-cluster-management.io/op-id": "o1"},
        other_metadata={"finalizers": ["a/b"]},
    )

    @pytest.mark.parametrize("action", ["create", "update", "delete"])
    def test_it_carries_what_the_server_requires(self, action: str) -> None:
        envelope = spec_request(action, self.WORK, source="adapter-1", at=AT)
        assert envelope.type == f"{DATA_TYPE}.spec.{action}_request"
        assert envelope.source == "adapter-1"
        assert (envelope.text("clustername"), envelope.text("resourceid")) == ("mgmt-01", UID)
        assert envelope.number("resourceversion") == 0
        assert envelope.extensions["originalsource"] == ""
        assert envelope.json("metadata") == {
            "name": "w",
            "namespace": "mgmt-01",
            "uid": UID,
            "resourceVersion": "0",
            "labels": {"a": "b"},
            "annotations": self.WORK.annotations,
            "finalizers": ["a/b"],
        }
        assert envelope.json("logtracing") == {"logging.open-cluster-management.io/op-id": "o1"}

    def test_every_one_has_an_id_of_its_own(self) -> None:
        first, second = (spec_request("create", self.WORK, source="s", at=AT) for _ in range(2))
        assert first.id != second.id

    def test_a_delete_has_no_payload_at_all(self) -> None:
        event = spec_request("delete", self.WORK, source="s", at=AT).to_proto()
        assert event.WhichOneof("data") is None
        assert "contenttype" not in event.attributes
        assert event.attributes["ce-deletiontimestamp"].ce_timestamp == timestamp(AT)

    def test_the_payload_spells_the_executor_as_the_protocol_does(self) -> None:
        work = ManifestWork(name="w", consumer="c", manifests=(), executor={"subject": {}}, delete_option={"a": 1})
        payload = spec_request("update", work, source="s", at=AT).payload
        assert payload == {"manifests": [], "executer": {"subject": {}}, "deleteOption": {"a": 1}}

    def test_a_resync_lists_what_is_known(self) -> None:
        envelope = status_resync_request(source="s", at=AT, hashes={UID: "h"})
        assert envelope.payload == {"statusHashes": [{"resourceID": UID, "statusHash": "h"}]}
        assert status_resync_request(source="s", at=AT, hashes={}).payload == {"statusHashes": []}
