"""Every vector the Go client and codec of Maestro recorded: ids, events in three spellings, validation, refusals.

The JSON inside attributes and payloads is compared as JSON, times to the microsecond: Go keeps nanoseconds, which no
server looks at.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import text_format
from google.protobuf.timestamp_pb2 import Timestamp

from shared import errors, times
from shared.errors import HyperFleetError, Invalid, Problem
from shared.maestro.grpc.refusals import from_grpc
from shared.maestro.wire.cloudevent_pb2 import CloudEvent, PublishRequest
from shared.maestro.wire.codec import Attribute, Envelope, spec_request, status_resync_request, work_in_status
from shared.maestro.works.identity import work_id
from shared.model.conditions import Condition
from shared.model.manifestwork import SEQUENCE_ANNOTATION, ManifestWork
from shared.model.manifestwork_validation import problems_of

GOLDEN = (Path(__file__).parent / "golden" / "maestro_golden.txt").read_text(encoding="utf-8")
AT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
JSON_EXTENSIONS = ("metadata", "logtracing")
TIMES = ("time", "deletiontimestamp")


@dataclass(frozen=True)
class Event:
    """One recorded event in the spellings that were recorded."""

    structured: dict[str, Any]
    prototext: str
    request: bytes

    @property
    def proto(self) -> CloudEvent:
        return PublishRequest.FromString(self.request).event


def _events() -> Iterator[tuple[str, Event]]:
    pattern = r"^=== (.+)\n--- json\n(.+)\n--- prototext\n([\s\S]+?)\n--- PublishRequest hex .*\n([0-9a-f]+)$"
    for name, structured, prototext, request in re.findall(pattern, GOLDEN, re.MULTILINE):
        yield name, Event(json.loads(structured), prototext, bytes.fromhex(request))


EVENTS = dict(_events())
EVERY_EVENT = pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)


def lines(prefix: str) -> list[str]:
    return [line.removeprefix(prefix) for line in GOLDEN.splitlines() if line.startswith(prefix)]


def line(prefix: str) -> str:
    (only,) = lines(prefix)
    return only


def comparable(event: CloudEvent) -> dict[str, Any]:
    """The event with its JSON parsed and its times cut to microseconds."""
    attributes: dict[str, Any] = {}
    for key, value in event.attributes.items():
        kind = str(value.WhichOneof("attr"))
        content = getattr(value, kind)
        if isinstance(content, Timestamp):
            content = content.ToMicroseconds()
        elif key.removeprefix("ce-") in JSON_EXTENSIONS:
            content = json.loads(content)
        attributes[key] = (kind, content)
    data = json.loads(event.binary_data) if event.WhichOneof("data") else None
    return {
        "id": event.id,
        "source": event.source,
        "spec_version": event.spec_version,
        "type": event.type,
        "attributes": attributes,
        "data": data,
    }


def envelope_of(structured: dict[str, Any]) -> Envelope:
    """The envelope of an event in its JSON spelling, in which times are texts."""
    top = ("specversion", "id", "source", "type", "datacontenttype", "data")
    extensions: dict[str, Attribute] = {name: value for name, value in structured.items() if name not in top}
    for name in TIMES:
        if name in structured:
            stamp = Timestamp()
            stamp.FromJsonString(structured[name])
            extensions[name] = stamp
    return Envelope(
        id=structured["id"],
        source=structured["source"],
        type=structured["type"],
        extensions=extensions,
        data=json.dumps(structured["data"]).encode() if "data" in structured else None,
        content_type=structured.get("datacontenttype"),
    )


def work_sent_in(event: Event) -> ManifestWork:
    """The work that the Go client sent in a spec event."""
    metadata, data = json.loads(event.structured["metadata"]), event.structured.get("data", {})
    deleted = event.structured.get("deletiontimestamp")
    document = {
        "kind": "ManifestWork",
        "metadata": metadata,
        "spec": {
            "workload": {"manifests": data.get("manifests")},
            "manifestConfigs": data.get("manifestConfigs"),
            "deleteOption": data.get("deleteOption"),
            "executor": data.get("executer"),
        },
    }
    return replace(ManifestWork.from_kubernetes(document), deleted_at=times.parse(deleted) if deleted else None)


class TestIds:
    def test_the_first(self) -> None:
        expected = line("UID(my-adapter,us-east-mgmt-01,hostedcluster-abc123): ")
        assert work_id("my-adapter", "us-east-mgmt-01", "hostedcluster-abc123") == expected

    def test_the_one_of_the_example_client(self) -> None:
        consumer, name = "7ff1a8f4-8811-49b4-8c19-9271bc51975e", "e44ec579-9646-549a-b679-db8d19d6da37"
        assert work_id("mw-client-example", consumer, name) == line("UID(mw-client-example,...): ")

    def test_every_work_that_was_sent_has_the_id_that_follows_from_its_name(self) -> None:
        for name in ("create_request", "update_request", "delete_request"):
            work = work_sent_in(EVENTS[name])
            assert work.uid == work_id(EVENTS[name].structured["source"], work.consumer, work.name)


class TestEvents:
    def test_there_are_six(self) -> None:
        assert len(EVENTS) == GOLDEN.count("\n=== ") == 6

    @EVERY_EVENT
    def test_the_three_spellings_are_one_event(self, event: Event) -> None:
        parsed = text_format.Parse(event.prototext, CloudEvent())
        assert parsed == event.proto
        assert comparable(envelope_of(event.structured).to_proto()) == comparable(parsed)

    @EVERY_EVENT
    def test_what_was_decoded_is_encoded_to_the_same_bytes(self, event: Event) -> None:
        again = PublishRequest(event=Envelope.from_proto(event.proto).to_proto())
        assert again.SerializeToString(deterministic=True) == event.request

    @EVERY_EVENT
    def test_every_extension_is_decoded(self, event: Event) -> None:
        envelope, structured = Envelope.from_proto(event.proto), event.structured
        assert (envelope.id, envelope.source, envelope.type) == (
            structured["id"],
            structured["source"],
            structured["type"],
        )
        assert envelope.content_type == structured.get("datacontenttype")
        assert envelope.payload == structured.get("data", {})
        expected = envelope_of(structured).extensions
        assert envelope.extensions == expected
        assert envelope.json("metadata") == json.loads(structured.get("metadata", "{}"))

    @pytest.mark.parametrize("action", ["create", "update", "delete"])
    def test_a_request_of_ours_is_the_one_the_go_client_sends(self, action: str) -> None:
        event = EVENTS[f"{action}_request"]
        ours = spec_request(action, work_sent_in(event), source=event.structured["source"], at=AT)
        assert comparable(replace(ours, id=event.structured["id"]).to_proto()) == comparable(event.proto)

    def test_so_is_a_request_for_resynchronisation(self) -> None:
        event = EVENTS["status.resync_request"]
        hashes = {each["resourceID"]: each["statusHash"] for each in event.structured["data"]["statusHashes"]}
        ours = status_resync_request(source=event.structured["source"], at=AT, hashes=hashes)
        assert comparable(replace(ours, id=event.structured["id"]).to_proto()) == comparable(event.proto)

    @pytest.mark.parametrize("recorded", lines("ext after JSON roundtrip "))
    def test_each_extension_has_the_type_go_gives_it(self, recorded: str) -> None:
        name, kind = recorded.split(": ")
        value = Envelope.from_proto(EVENTS["status.update_request (agent -> broker)"].proto).extensions[name]
        assert type(value) is {"string": str, "int32": int}[kind]

    @pytest.mark.parametrize("recorded", lines("delete ext after JSON roundtrip "))
    def test_so_has_each_one_of_a_delete_whose_time_may_be_a_text(self, recorded: str) -> None:
        name, _, rest = recorded.partition(": ")
        kind, _, text = rest.partition(" ")
        value = envelope_of(EVENTS["delete_request"].structured).extensions[name]
        if isinstance(value, Timestamp):
            assert (kind, value.ToMicroseconds()) == ("string", round(times.parse(text).timestamp() * 1e6))
        else:
            assert (type(value), str(value)) == ({"string": str, "int32": int}[kind], text)


class TestTheStatus:
    EVENT = EVENTS["status.update_request (agent -> broker)"]
    DECODED: dict[str, Any] = json.loads(line("decoded at source: "))

    def test_the_work_in_it_is_the_one_go_decodes(self) -> None:
        work = work_in_status(Envelope.from_proto(self.EVENT.proto))
        metadata = dict(self.DECODED["metadata"])
        annotations = dict(metadata.pop("annotations"))
        assert work.status.sequence_id == int(annotations.pop(SEQUENCE_ANNOTATION))
        assert work.annotations == annotations
        assert (work.name, work.consumer, work.uid) == (metadata["name"], metadata["namespace"], metadata["uid"])
        assert (work.generation, work.labels) == (metadata["generation"], metadata["labels"])
        assert self.DECODED["spec"] == {"workload": {}}
        assert (work.manifests, work.manifest_configs, work.delete_option, work.executor) == ((), (), None, None)

    def test_so_is_what_the_agent_says(self) -> None:
        status = work_in_status(Envelope.from_proto(self.EVENT.proto)).status
        expected = self.DECODED["status"]
        assert list(status.conditions) == [Condition.from_kubernetes(each) for each in expected["conditions"]]
        (manifest,), (recorded,) = status.manifests, expected["resourceStatus"]["manifests"]
        meta = recorded["resourceMeta"]
        assert {key: getattr(manifest, key) for key in meta} == meta
        assert list(manifest.conditions) == [Condition.from_kubernetes(each) for each in recorded["conditions"]]
        values = recorded["statusFeedback"]["values"]
        assert manifest.feedback == {each["name"]: json.loads(each["fieldValue"]["jsonRaw"]) for each in values}

    def test_its_hash_follows_from_what_the_agent_says(self) -> None:
        payload = Envelope.from_proto(self.EVENT.proto).payload
        status = {"conditions": payload["conditions"], "resourceStatus": {"manifests": payload["resourceStatus"]}}
        text = json.dumps(status, sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(text.encode()).hexdigest()
        assert digest == line("StatusHash: ") == Envelope.from_proto(self.EVENT.proto).text("statushash")


# The work the Go client validated, whose label value is wrong by itself, and what was changed in it.
BASE = work_sent_in(EVENTS["create_request"])
NAMED = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
VALIDATED: dict[str, ManifestWork] = {
    "bad name": replace(BASE, name="Bad_Name"),
    "empty name": replace(BASE, name="", labels={}),
    "no manifests": replace(BASE, manifests=()),
    "no manifest name": replace(BASE, manifests=({**NAMED, "metadata": {}},)),
    "no kind": replace(BASE, manifests=({"apiVersion": "v1", "metadata": {"name": "a"}},)),
    "not json": replace(BASE, manifests=({**NAMED, "data": object()},)),
    "bad label": replace(BASE, labels={"bad key!": "v"}),
    "dotted name": replace(BASE, name="a.b"),
    "64 char name": replace(BASE, name="a" * 64),
    "too big": replace(BASE, manifests=({**NAMED, "data": {"k": "x" * 512_000}},)),
}
VERDICTS = dict(each.split(" -> ", 1) for each in lines("VALIDATE "))


class TestValidation:
    def test_every_recorded_case_is_here(self) -> None:
        assert VALIDATED.keys() == VERDICTS.keys()

    @pytest.mark.parametrize("case", VERDICTS)
    def test_what_the_go_client_refuses_we_refuse_at_the_same_places(self, case: str) -> None:
        verdict = json.loads(VERDICTS[case][VERDICTS[case].index(' {"metadata":{}') :])
        fields = {cause["field"] for cause in verdict["details"]["causes"]}
        found = list(problems_of(VALIDATED[case]))
        assert {field for field in fields if any(is_at(problem, field) for problem in found)} == fields
        assert all(any(is_at(problem, field) for field in fields) for problem in found)


def is_at(problem: Problem, field: str) -> bool:
    return re.match(rf"{re.escape(field)}(\.|\[|$)", problem.path) is not None


class TestRefusals:
    MEANINGS: tuple[type[HyperFleetError], ...] = (errors.AlreadyExists, errors.Unavailable)

    def test_what_the_go_client_could_not_publish_has_a_name_here(self) -> None:
        recorded = [match for each in lines("PUBERR ") if (match := re.match(r".*?code = (\w+) desc = (.+?) \{", each))]
        codes = {"Unknown": grpc.StatusCode.UNKNOWN, "Unavailable": grpc.StatusCode.UNAVAILABLE}
        assert tuple(type(from_grpc("publish", codes[match[1]], match[2])) for match in recorded) == self.MEANINGS


def test_a_patched_work_reads_as_it_was_recorded() -> None:
    recorded = json.loads(line("PATCHED "))
    work = ManifestWork.from_kubernetes({"kind": "ManifestWork", **recorded})
    assert work.to_kubernetes()["spec"] == recorded["spec"]
    assert work.annotations == recorded["metadata"]["annotations"]


def test_a_manifest_that_is_a_text_is_refused_at_its_place() -> None:
    document = {"kind": "ManifestWork", "spec": {"workload": {"manifests": ["not json"]}}}
    with pytest.raises(Invalid) as refusal:
        ManifestWork.from_kubernetes(document)
    assert [problem.path for problem in refusal.value.problems] == ["spec.workload.manifests[0]"]


def test_no_line_of_the_recording_is_passed_over_in_silence() -> None:
    """Snowflake ids are ordered by the server, and StatusErrors are made by the Go client for itself."""
    outside_events = re.sub(r"^=== [\s\S]+?\n--- PublishRequest hex .*\n[0-9a-f]+$", "", GOLDEN, flags=re.MULTILINE)
    used = (
        "UID(",
        "GR string: ",
        "StatusHash: ",
        "decoded at source: ",
        "ext after ",
        "delete ext after ",
        "VALIDATE ",
    )
    named = (*used, "PUBERR ", "PATCHED ", "SNOW ", "STATUSERR ")
    assert [each for each in outside_events.splitlines() if each and not each.startswith(named)] == []
