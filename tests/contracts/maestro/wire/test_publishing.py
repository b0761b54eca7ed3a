"""What a source may send, what is stored of it, and with which error the rest is refused."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from shared.maestro.wire.cloudevent_pb2 import CloudEvent, CloudEventAttributeValue
from shared.maestro.wire.codec import DATA_TYPE
from tests.support.maestro_wire import Json, Wire, config_map

CREATING = "failed to create resource: maestro-8: the manifest bundle in the resource is invalid, "
DECODING = "failed to decode cloudevent: "
METADATA = (
    "failed to convert cloudevent to resource payload: failed to unmarshal metadata extension to object: "
    "json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
)
BYTES = 'failed to decode manifest bundle: failed to decode cloudevent payload: [json] found bytes "{data}", but failed to unmarshal: json: cannot unmarshal '
NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


def without(extension: str) -> Callable[[CloudEvent], object]:
    return lambda event: event.attributes.pop(f"ce-{extension}")


def having(name: str, **value: Any) -> Callable[[CloudEvent], None]:
    return lambda event: event.attributes[name].CopyFrom(CloudEventAttributeValue(**value))


def being(**fields: str) -> Callable[[CloudEvent], None]:
    def spoil(event: CloudEvent) -> None:
        for name, value in fields.items():
            setattr(event, name, value)

    return spoil


@pytest.mark.parametrize(
    ("spoil", "details"),
    [
        (lambda event: event.ClearField("attributes"), "failed to convert to cloudevent: unknown Message encoding"),
        (being(spec_version=""), "failed to convert to cloudevent: unknown Message encoding"),
        (having("ce-foo"), "failed to convert to cloudevent: failed to convert attribute ce-foo: unsupported attribute type: <nil>"),
        (having("ce-time", ce_string="bad"), 'failed to convert to cloudevent: invalid value for time: "bad"'),
        (being(type=""), "failed to parse cloud event type , unsupported cloudevents type format: "),
        (being(type="a.b"), "failed to parse cloud event type a.b, unsupported cloudevents type format: a.b"),
        (being(type="a.b.c.foo.create_request"), "failed to parse cloud event type a.b.c.foo.create_request, unsupported subresource foo"),
        (being(type=f"{DATA_TYPE}.spec.foo"), "unsupported action foo"),
        (being(type=f"{DATA_TYPE}.spec.watch_request"), "unsupported action watch_request"),
        (without("clustername"), DECODING + "failed to get clustername extension: invalid CloudEvents value: <nil>"),
        (without("resourceid"), DECODING + "failed to get resourceid extension: invalid CloudEvents value: <nil>"),
        (without("resourceversion"), DECODING + "failed to get resourceversion extension: invalid CloudEvents value: <nil>"),
        (having("ce-clustername", ce_integer=7), DECODING + "failed to get clustername extension: cannot convert 7 to string"),
        (having("ce-resourceversion", ce_boolean=True), DECODING + "failed to get resourceversion extension: cannot convert true to int32"),
        (having("ce-resourceversion", ce_string="abc"), DECODING + 'failed to get resourceversion extension: strconv.ParseFloat: parsing "abc": invalid syntax'),
        (having("ce-metadata", ce_string="[]"), DECODING + METADATA.format(kind="array")),
        (having("ce-metadata", ce_string='"x"'), DECODING + METADATA.format(kind="string")),
        (having("ce-metadata", ce_string="3"), DECODING + METADATA.format(kind="number")),
        (having("contenttype", ce_string="application/cloudevents+json"), "failed to convert to cloudevent: specversion: no specversion\n"),
    ],
)  # fmt: skip
async def test_an_event_that_cannot_be_read_is_refused_with_the_servers_text(
    wire: Wire, spoil: Callable[[CloudEvent], object], details: str
) -> None:
    event = wire.event("w")
    spoil(event)

    assert await wire.refusal(event) == ("UNKNOWN", details)


@pytest.mark.parametrize("version", [{"ce_string": "3"}, {"ce_string": "3.0"}, {"ce_integer": 3}])
async def test_a_version_may_be_a_number_or_its_digits(wire: Wire, version: dict[str, Any]) -> None:
    event = wire.event("w")
    having("ce-resourceversion", **version)(event)
    await wire.publish(event)

    assert (await wire.bundle("w"))["version"] == 3


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(being(id=""), id="without an id"),
        pytest.param(being(type="x.y.foos.spec.create_request"), id="of another data type"),
        pytest.param(being(type=f"{DATA_TYPE}.status.create_request"), id="of the status"),
        pytest.param(without("originalsource"), id="without an original source"),
        pytest.param(lambda event: event.attributes.pop("contenttype"), id="without a content type"),
    ],
)
async def test_what_the_server_does_not_look_at_does_not_matter(
    wire: Wire, spoil: Callable[[CloudEvent], object]
) -> None:
    event = wire.event("w")
    spoil(event)
    await wire.publish(event)

    assert (await wire.bundle("w"))["manifests"] == [config_map("a")]


def _as_text(event: CloudEvent) -> None:
    event.text_data = event.binary_data.decode()


def _as_nothing(event: CloudEvent) -> None:
    event.ClearField("data")


def _as_empty(event: CloudEvent) -> None:
    event.binary_data = b""


@pytest.mark.parametrize("respell", [_as_text, _as_nothing, _as_empty])
async def test_a_payload_that_is_not_binary_data_is_silently_lost(
    wire: Wire, respell: Callable[[CloudEvent], object]
) -> None:
    event = wire.event("w")
    respell(event)
    await wire.publish(event)

    stored = await wire.bundle("w")
    assert (stored["manifests"], stored["manifest_configs"], stored["delete_option"]) == ([], [], {})


@pytest.mark.parametrize("data", [{}, None, {"manifests": None}, {"manifests": []}], ids=str)
async def test_a_work_without_manifests_is_stored(wire: Wire, data: Any) -> None:
    event = wire.event("w")
    event.binary_data = b"null" if data is None else wire.event("w", data=data).binary_data
    await wire.publish(event)

    assert (await wire.bundle("w"))["manifests"] == []


async def test_a_structured_event_is_read_whole_from_its_data(wire: Wire) -> None:
    inner = {
        "specversion": "1.0",
        "id": "1",
        "source": wire.source,
        "type": f"{DATA_TYPE}.spec.create_request",
        "clustername": wire.consumer,
        "resourceid": wire.id_of("w"),
        "resourceversion": 0,
        "datacontenttype": "application/json",
        "data": {"manifests": [config_map("q")]},
    }
    event = wire.event("other", data=inner)
    having("contenttype", ce_string="application/cloudevents+json")(event)
    await wire.publish(event)

    assert (await wire.bundle("w"))["manifests"] == [config_map("q")]


@pytest.mark.parametrize(
    ("content_type", "problem"),
    [
        ("text/plain", "text.Decode out: want *string, got *payload.ManifestBundle"),
        ("application/octet-stream", '[decode] unsupported content type: "application/octet-stream"'),
    ],
)
async def test_a_payload_of_another_content_type_is_refused(wire: Wire, content_type: str, problem: str) -> None:
    event = wire.event("w")
    having("contenttype", ce_string=content_type)(event)

    prefix = f"{CREATING}failed to decode manifest bundle: failed to decode cloudevent payload: "
    assert await wire.refusal(event) == ("UNKNOWN", prefix + problem)


def manifest(**metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "K", "metadata": {"name": "n", **metadata}}


@pytest.mark.parametrize(
    ("manifests", "problem"),
    [
        ([{}], "[apiVersion: Required value: field not set, kind: Required value: field not set, metadata.name: Required value: field not set]"),
        ([{"apiVersion": 1, "kind": 2, "metadata": {"name": 3}}], "[apiVersion: Required value: field not set, kind: Required value: field not set, metadata.name: Required value: field not set]"),
        ([{"apiVersion": "v1", "kind": "K", "metadata": "x"}], "metadata.name: Required value: field not set"),
        ([manifest() | {"apiVersion": "a/b/c"}], 'apiVersion: Invalid value: "a/b/c": bad format'),
        ([manifest() | {"apiVersion": "/v1"}], 'apiVersion: Invalid value: "/v1": group not set'),
        ([manifest() | {"apiVersion": "g/"}], 'apiVersion: Invalid value: "g/": version not set'),
        ([manifest() | {"apiVersion": "v" * 64}], f'apiVersion: Invalid value: "{"v" * 64}": must be no more than 63 characters'),
        ([manifest() | {"apiVersion": "1v"}], "apiVersion: Invalid value: \"1v\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"),
        ([manifest() | {"apiVersion": "Bad/v1"}], "apiVersion: Invalid value: \"Bad/v1\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"),
        ([manifest(namespace="Bad_")], f'metadata.namespace: Invalid value: "Bad_": {LABEL}'),
        ([manifest(namespace="a.b")], 'metadata.namespace: Invalid value: "a.b": must not contain dots'),
        ([manifest(generateName="x-", resourceVersion="1")], "[metadata.generateName: Forbidden: field cannot be set, metadata.resourceVersion: Forbidden: field cannot be set]"),
        ([manifest(labels={"a b": "c"})], f'metadata.labels: Invalid value: "a b": {NAME_PART}'),
        ([manifest(labels={"/x": "c"})], 'metadata.labels: Invalid value: "/x": prefix part must be non-empty'),
        ([manifest(labels={"": "c"})], f'[metadata.labels: Invalid value: "": name part must be non-empty, metadata.labels: Invalid value: "": {NAME_PART}]'),
        ([manifest(labels={"k" * 64: "c"})], f'metadata.labels: Invalid value: "{"k" * 64}": name part must be no more than 63 bytes'),
        ([manifest(labels={"a": "v" * 64})], f'metadata.labels: Invalid value: "{"v" * 64}": must be no more than 63 bytes'),
        ([manifest(labels={"a": "b\n"})], "metadata.labels: Invalid value: \"b\\n\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"),
        ([manifest(annotations={"a b": "c"})], f'metadata.annotations: Invalid value: "a b": {NAME_PART}'),
        ([manifest(annotations={"a": "x" * 262144})], "metadata.annotations: Too long: may not be more than 262144 bytes"),
        ([manifest(finalizers=["bad f"])], f'metadata.finalizers: Invalid value: "bad f": {NAME_PART}'),
        ([manifest(finalizers=["orphan", "foregroundDeletion"])], 'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set'),
        ([config_map("a"), config_map("b"), config_map("a")], "duplicate manifest for resource default/a with resource type v1.ConfigMap"),
        ([manifest(), manifest()], "duplicate manifest for resource /n with resource type v1.K"),
        ([config_map("a"), config_map("a"), {}], "duplicate manifest for resource default/a with resource type v1.ConfigMap"),
        ([None], "failed to decode manifest bundle: failed to unmarshal manifest raw: unexpected end of JSON input"),
        ([1], "failed to decode manifest bundle: failed to unmarshal manifest raw: json: cannot unmarshal number into Go value of type map[string]interface {}"),
    ],
)  # fmt: skip
async def test_bad_manifests_are_refused_with_every_problem_of_the_first_bad_one(
    wire: Wire, manifests: list[Any], problem: str
) -> None:
    assert await wire.refusal(wire.event("w", data={"manifests": manifests})) == ("UNKNOWN", CREATING + problem)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([], "array into Go value of type payload.ManifestBundle"),
        ({"manifests": "x"}, "string into Go struct field ManifestBundle.manifests of type []v1.Manifest"),
        ({"executer": 1}, "number into Go struct field ManifestBundle.executer of type v1.ManifestWorkExecutor"),
        ({"deleteOption": {"propagationPolicy": 1}}, "number into Go struct field DeleteOption.deleteOption.propagationPolicy of type v1.DeletePropagationPolicyType"),
        ({"manifestConfigs": [{"resourceIdentifier": 1}]}, "number into Go struct field ManifestConfigOption.manifestConfigs.resourceIdentifier of type v1.ResourceIdentifier"),
    ],
)  # fmt: skip
async def test_a_payload_of_the_wrong_shape_is_refused_with_gos_text(wire: Wire, data: Any, problem: str) -> None:
    event = wire.event("w", data=data)
    compact = event.binary_data.decode().replace(" ", "")

    assert await wire.refusal(event) == ("UNKNOWN", CREATING + BYTES.format(data=compact) + problem)


@pytest.mark.parametrize(
    "accepted",
    [
        manifest(name="Any Name!"),
        manifest(labels={"a": 1}),
        manifest(labels="x", annotations=[], finalizers="x"),
        manifest(deletionGracePeriodSeconds=30),
        manifest(uid="x", creationTimestamp="never", managedFields=[]),
        manifest() | {"kind": "any kind"},
    ],
    ids=str,
)
async def test_what_the_server_does_not_check_is_accepted(wire: Wire, accepted: Json) -> None:
    await wire.publish(wire.event("w", data={"manifests": [accepted]}))

    assert (await wire.bundle("w"))["manifests"] == [accepted]


async def test_an_update_is_checked_as_a_creation_is_but_after_its_version(wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    bad: Json = {"manifests": [{}]}

    code, details = await wire.refusal(wire.event("w", "update_request", version=1, data=bad))
    assert details.startswith(
        "failed to update resource: maestro-8: the new manifest bundle in the resource is invalid, ["
    )
    code, details = await wire.refusal(wire.event("w", "update_request", version=7, data=bad))
    assert (code, details) == (
        "UNKNOWN",
        "failed to update resource: maestro-6: the resource version is not the latest, the latest version: 1",
    )


async def test_versions_start_at_one_and_grow_with_every_update_even_the_same_one_sent_again(wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    versions = [(await wire.bundle("w"))["version"]]
    same = wire.event("w", "update_request", version=0)
    for update in (wire.event("w", "update_request", version=1), same, same):
        await wire.publish(update)
        versions.append((await wire.bundle("w"))["version"])

    assert versions == [1, 2, 3, 4]


async def test_metadata_is_replaced_as_a_whole_and_completed_by_the_server(wire: Wire) -> None:
    await wire.publish(wire.event("w", metadata={"name": "w", "labels": {"a": "b"}, "annotations": {"c": "d"}}))
    await wire.publish(wire.event("w", "update_request", metadata={"name": "w", "finalizers": ["x/y"]}))

    stored = await wire.bundle("w")
    created = f"{stored['created_at'][:19]}Z"
    assert stored["metadata"] == {"name": "w", "finalizers": ["x/y"], "creationTimestamp": created}


async def test_rest_shows_what_go_makes_of_the_configuration_and_hides_source_and_executor(wire: Wire) -> None:
    apply = {"force": True, "unknown": 1}
    config = {"resourceIdentifier": {"name": "a"}, "updateStrategy": {"serverSideApply": apply}, "unknown": {}}
    rule = {"type": "JSONPaths", "jsonPaths": [{"name": "x", "path": ".y", "version": ""}]}
    data = {
        "manifests": [config_map("a")],
        "manifestConfigs": [config, {"feedbackRules": [rule], "conditionRules": [{"condition": "C"}]}],
        "deleteOption": {},
        "executer": {"subject": {"type": "ServiceAccount"}},
    }
    await wire.publish(wire.event("w", data=data))

    stored = await wire.bundle("w")
    empty = {"group": "", "resource": "", "name": "", "namespace": ""}
    condition_rule = {"condition": "C", "type": "", "celExpressions": None, "message": "", "messageExpression": ""}
    assert stored["manifest_configs"] == [
        {"resourceIdentifier": empty | {"name": "a"}, "updateStrategy": {"serverSideApply": {"force": True}}},
        {
            "resourceIdentifier": empty,
            "feedbackRules": [{"type": "JSONPaths", "jsonPaths": [{"name": "x", "path": ".y"}]}],
            "conditionRules": [condition_rule],
        },
    ]
    assert stored["delete_option"] == {"propagationPolicy": ""}
    assert stored["name"] == stored["id"] == wire.id_of("w")
    assert stored.keys() == {
        *("id", "kind", "href", "name", "consumer_name", "version", "created_at", "updated_at"),
        *("metadata", "manifests", "manifest_configs", "delete_option"),
    }


async def test_numbers_are_those_of_float64(wire: Wire) -> None:
    event = wire.event("w")
    literals = b"[1.0, 12345678901234567890, 9007199254740993, -9007199254740993, 1e20, 0.1, 1e-7, 123456789.125]"
    event.binary_data = event.binary_data.replace(b'"kind"', b'"numbers": ' + literals + b', "kind"')
    await wire.publish(event)

    shown = (await wire.bundle("w"))["manifests"][0]["numbers"]
    wanted = [1, 12345678901234567000, 9007199254740992, -9007199254740992, 10**20, 0.1, 1e-7, 123456789.125]
    assert [(type(number), number) for number in shown] == [(type(number), number) for number in wanted]


async def test_a_number_beyond_float64_is_refused(wire: Wire) -> None:
    event = wire.event("w")
    event.binary_data = b'{"manifests": [], "n": 1e400}'

    doing = "failed to convert cloudevent to resource payload: failed to unmarshal cloudevent JSON to JSONMAP: "
    problem = "json: cannot unmarshal number 1e400 into Go value of type float64"
    assert await wire.refusal(event) == ("UNKNOWN", DECODING + doing + problem)


@pytest.mark.parametrize("data", [b'{"x": "a\\u0000b"}', b'{"\\u0000": 1}', b'{"x": [{"y": "\\u0000"}]}'])
@pytest.mark.parametrize("action", ["create", "update"])
async def test_the_character_nul_cannot_be_stored(wire: Wire, action: str, data: bytes) -> None:
    if action == "update":
        await wire.publish(wire.event("w"))
    event = wire.event("w", f"{action}_request")
    event.binary_data = data

    database = "ERROR: unsupported Unicode escape sequence (SQLSTATE 22P05)"
    details = f"failed to {action} resource: maestro-9: Unable to {action} Resource: {database}"
    assert await wire.refusal(event) == ("UNKNOWN", details)


async def test_bytes_that_are_no_text_are_replaced(wire: Wire) -> None:
    event = wire.event("w")
    event.binary_data = event.binary_data.replace(b'"a"', b'"\xff"')
    await wire.publish(event)

    assert (await wire.bundle("w"))["manifests"] == [config_map("\N{REPLACEMENT CHARACTER}")]


async def test_an_id_is_taken_until_the_agent_has_let_it_go(wire: Wire) -> None:
    taken = ("UNKNOWN", "failed to create resource: maestro-6: This Resource already exists")
    await wire.publish(wire.event("w"))
    assert await wire.refusal(wire.event("w")) == taken

    await wire.publish(wire.event("w", "delete_request", version=99))
    assert await wire.refusal(wire.event("w")) == taken
    under_deletion = f"failed to update resource: maestro-6: the resource is under deletion, id: {wire.id_of('w')}"
    assert await wire.refusal(wire.event("w", "update_request")) == ("UNKNOWN", under_deletion)


async def test_an_id_that_is_taken_is_reported_before_a_consumer_that_is_unknown(wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    homeless = wire.event("w")
    having("ce-clustername", ce_string="nowhere")(homeless)

    assert await wire.refusal(homeless) == (
        "UNKNOWN",
        "failed to create resource: maestro-6: This Resource already exists",
    )


async def test_a_work_for_an_unknown_consumer_breaks_a_foreign_key(wire: Wire) -> None:
    homeless = wire.event("w")
    having("ce-clustername", ce_string="nowhere")(homeless)

    broken = 'insert or update on table "resources" violates foreign key constraint "fk_resources_consumers"'
    details = f"failed to create resource: maestro-9: Unable to create Resource: ERROR: {broken} (SQLSTATE 23503)"
    assert await wire.refusal(homeless) == ("UNKNOWN", details)


async def test_what_is_not_there_cannot_be_updated_but_deleted(wire: Wire) -> None:
    missing = f"failed to get resource: maestro-7: Resource with id='{wire.id_of('w')}' not found"
    assert await wire.refusal(wire.event("w", "update_request")) == ("UNKNOWN", missing)

    await wire.publish(wire.event("w", "delete_request"))


async def test_a_deletion_is_a_date_that_does_not_move(wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    await wire.publish(wire.event("w", "delete_request"))
    deleting = await wire.bundle("w")
    await wire.publish(wire.event("w", "delete_request"))

    assert await wire.bundle("w") == deleting
    assert deleting["metadata"]["deletionTimestamp"] == f"{deleting['deleted_at'][:19]}Z"
    assert deleting["version"] == 1


async def test_any_source_may_overwrite_any_work(wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    other = wire.event("w", "update_request", data={"manifests": [config_map("other")]})
    other.source = f"other-{uuid.uuid4()}"
    await wire.publish(other)

    assert (await wire.bundle("w"))["manifests"] == [config_map("other")]
    still_ours = await wire.get("/resource-bundles", search=f"source='{wire.source}'")
    assert still_ours["total"] == 1


async def test_a_message_above_four_mebibytes_is_refused_with_its_size(wire: Wire) -> None:
    code, details = await wire.refusal(wire.event("w", data={"manifests": [], "x": "y" * (4 * 1024 * 1024)}))

    assert code == "RESOURCE_EXHAUSTED"
    assert details.startswith("grpc: received message larger than max (4194")
    assert details.endswith(" vs. 4194304)")
