"""What each refusal of a real Maestro means. The texts are the server's own, to the letter."""

import re
from datetime import UTC, datetime
from typing import Any

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared import errors
from shared.errors import HyperFleetError, Invalid, Permanent, Transient
from shared.maestro import MaestroSettings
from shared.maestro.grpc.refusals import from_grpc
from shared.maestro.refusals import from_http, retry_after, unreachable

UNKNOWN = grpc.StatusCode.UNKNOWN
WHAT = "create work 'w' on mgmt-01"
LABEL_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
BY_TEXT: dict[str, tuple[grpc.StatusCode, str, type[HyperFleetError]]] = {
    "a duplicate id": (
        UNKNOWN,
        "failed to create resource: maestro-6: This Resource already exists",
        errors.AlreadyExists,
    ),
    "an unknown consumer": (
        UNKNOWN,
        'failed to create resource: maestro-9: Unable to create Resource: ERROR: insert or update on table "resources" violates foreign key constraint "fk_resources_consumers" (SQLSTATE 23503)',
        errors.UnknownConsumer,
    ),
    "an invalid manifest": (
        UNKNOWN,
        "failed to create resource: maestro-8: the manifest bundle in the resource is invalid, metadata.name: Required value: field not set",
        errors.Invalid,
    ),
    "an invalid manifest in an update": (
        UNKNOWN,
        "failed to update resource: maestro-8: the new manifest bundle in the resource is invalid, kind: Required value: field not set",
        errors.Invalid,
    ),
    "a duplicate manifest": (
        UNKNOWN,
        "failed to create resource: maestro-8: the manifest bundle in the resource is invalid, duplicate manifest for resource default/cm with resource type v1.ConfigMap",
        errors.Invalid,
    ),
    "a stale version": (
        UNKNOWN,
        "failed to update resource: maestro-6: the resource version is not the latest, the latest version: 2",
        errors.Conflict,
    ),
    "an update of what is being deleted": (
        UNKNOWN,
        "failed to update resource: maestro-6: the resource is under deletion, id: 55c61e54-a3f6-563d-9fec-b1fe297bdfdb",
        errors.Deleting,
    ),
    "an update of what is not there": (
        UNKNOWN,
        "failed to get resource: maestro-7: Resource with id='55c61e54-a3f6-563d-9fec-b1fe297bdfdb' not found",
        errors.NotFound,
    ),
    "a missing extension": (
        UNKNOWN,
        "failed to decode cloudevent: failed to get clustername extension: invalid CloudEvents value: <nil>",
        errors.Invalid,
    ),
    "no attributes": (UNKNOWN, "failed to convert to cloudevent: unknown Message encoding", errors.Invalid),
    "a type that is none": (
        UNKNOWN,
        "failed to parse cloud event type a.b, unsupported cloudevents type format: a.b",
        errors.Invalid,
    ),
    "an unknown subresource": (UNKNOWN, "unsupported subresource foo", errors.Invalid),
    "an unknown action": (UNKNOWN, "unsupported action foo", errors.Invalid),
    "metadata that is no JSON": (
        UNKNOWN,
        "failed to decode cloudevent: failed to convert cloudevent to resource payload: failed to unmarshal metadata extension to object: invalid character 'x' looking for beginning of value",
        errors.Invalid,
    ),
    "no token": (grpc.StatusCode.UNAUTHENTICATED, "invalid token", errors.Unauthenticated),
    "a bad token": (UNKNOWN, "token not authenticated", errors.Unauthenticated),
    "no right to publish": (UNKNOWN, "unauthorized to publish the event from source s", errors.Forbidden),
    "no right to subscribe": (UNKNOWN, "unauthorized to subscribe the event from source s", errors.Forbidden),
    "a certificate without group": (
        grpc.StatusCode.UNAUTHENTICATED,
        "could not find group in peer certificate",
        errors.Unauthenticated,
    ),
    "a certificate without user": (
        grpc.StatusCode.UNAUTHENTICATED,
        "could not find user in peer certificate",
        errors.Unauthenticated,
    ),
    "a broken handshake": (
        grpc.StatusCode.UNAVAILABLE,
        "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:8090: Ssl handshake failed (TSI_PROTOCOL_FAILURE): SSL_ERROR_SSL: error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED",
        errors.Misconfigured,
    ),
    "nobody there": (
        grpc.StatusCode.UNAVAILABLE,
        "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to connect to remote host: connect: Connection refused (111)",
        errors.Unavailable,
    ),
    "trouble in the database": (
        UNKNOWN,
        "failed to create resource: maestro-9: Unable to create Resource: ERROR: deadlock detected (SQLSTATE 40P01)",
        errors.ServerError,
    ),
    "trouble with a lock": (
        UNKNOWN,
        "failed to update resource: maestro-26: error obtaining the lock",
        errors.ServerError,
    ),
    "too large": (
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "grpc: received message larger than max (4194892 vs. 4194304)",
        errors.TooLarge,
    ),
    "too many requests": (grpc.StatusCode.RESOURCE_EXHAUSTED, "slow down", errors.Unavailable),
    "no answer in time": (grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded", errors.DeadlineExceeded),
    "a gateway that forbids": (grpc.StatusCode.PERMISSION_DENIED, "RBAC: access denied", errors.Forbidden),
    "not Maestro at all": (grpc.StatusCode.UNIMPLEMENTED, "unknown service", errors.Misconfigured),
    "a panic": (grpc.StatusCode.INTERNAL, "panic", errors.ServerError),
    "a text nobody knows": (UNKNOWN, "something else", errors.ServerError),
    "a goaway": (grpc.StatusCode.CANCELLED, "", errors.Unavailable),
}


@pytest.mark.parametrize(("code", "text", "kind"), BY_TEXT.values(), ids=BY_TEXT)
def test_each_answer_of_the_grpc_server_has_its_name(
    code: grpc.StatusCode, text: str, kind: type[HyperFleetError]
) -> None:
    error = from_grpc(WHAT, code, text)
    assert type(error) is kind
    assert str(error).startswith(f"{WHAT}: ")


@pytest.mark.parametrize("code", grpc.StatusCode)
@pytest.mark.parametrize("text", ["", "x", "maestro-", "maestro-999999: x", "maestro-6", "[", "]"], ids=repr)
def test_every_code_with_any_text_is_either_worth_another_try_or_not(code: grpc.StatusCode, text: str) -> None:
    assert isinstance(from_grpc(WHAT, code, text), Transient | Permanent)


def test_a_stale_version_knows_the_latest() -> None:
    code, text, _ = BY_TEXT["a stale version"]
    error = from_grpc(WHAT, code, text)
    assert isinstance(error, errors.Conflict)
    assert error.latest_version == 2


@pytest.mark.parametrize(
    ("case", "remedy"),
    [
        ("an unknown consumer", "MANAGEMENT_CLUSTER_CONSUMER"),
        ("an update of what is being deleted", "wait_gone"),
        ("a stale version", "read it again"),
        ("no token", "MAESTRO_TOKEN_FILE"),
        ("a bad token", "MAESTRO_TOKEN_FILE"),
        ("a certificate without group", "MAESTRO_CERT_FILE"),
        ("no right to publish", "/sources/"),
        ("a broken handshake", "MAESTRO_CA_FILE"),
        ("not Maestro at all", "MAESTRO_GRPC_URL"),
    ],
)
def test_where_a_reader_can_do_something_it_is_said(case: str, remedy: str) -> None:
    code, text, _ = BY_TEXT[case]
    assert remedy in from_grpc(WHAT, code, text).remedy


def test_a_refused_connection_does_not_send_the_reader_to_the_certificates() -> None:
    code, text, _ = BY_TEXT["nobody there"]
    assert from_grpc(WHAT, code, text).remedy == ""


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        pytest.param(
            "failed to create resource: maestro-8: the manifest bundle in the resource is invalid, "
            "metadata.name: Required value: field not set",
            ["metadata.name"],
            id="one",
        ),
        pytest.param(
            "failed to create resource: maestro-8: the manifest bundle in the resource is invalid, "
            "[metadata.generateName: Forbidden: field cannot be set, metadata.resourceVersion: Forbidden: field cannot be set]",
            ["metadata.generateName", "metadata.resourceVersion"],
            id="two",
        ),
        pytest.param(
            "failed to create resource: maestro-8: the manifest bundle in the resource is invalid, "
            f'metadata.labels: Invalid value: "b c": {LABEL_RULE}',
            ["metadata.labels"],
            id="one whose text has brackets",
        ),
        pytest.param(
            "failed to update resource: maestro-8: the new manifest bundle in the resource is invalid, "
            f'[apiVersion: Required value: field not set, metadata.labels: Invalid value: "b c": {LABEL_RULE}]',
            ["apiVersion", "metadata.labels"],
            id="two whose texts have brackets and commas",
        ),
        pytest.param(
            "failed to create resource: maestro-8: the manifest bundle in the resource is invalid, "
            "duplicate manifest for resource default/cm with resource type v1.ConfigMap",
            [""],
            id="one without a place",
        ),
    ],
)
def test_the_servers_list_of_problems_is_taken_apart(text: str, paths: list[str]) -> None:
    error = from_grpc(WHAT, UNKNOWN, text)
    assert isinstance(error, Invalid)
    assert [problem.path for problem in error.problems] == paths
    assert all(problem.message for problem in error.problems)
    assert "maestro-8" not in str(error)


def body(number: int | str, reason: str) -> dict[str, Any]:
    return {
        "kind": "Error",
        "id": str(number),
        "href": f"/api/maestro/v1/errors/{number}",
        "code": f"maestro-{number}",
        "reason": reason,
        "operation_id": "3MDRZ6pqzYCLJDPUM3CL9qffU4i",
    }


BY_STATUS: dict[str, tuple[int, Any, type[HyperFleetError]]] = {
    "no such work": (404, body(7, "Resource with id='zzz' not found"), errors.NotFound),
    "no such path": (
        404,
        {
            "type": "Error",
            "id": "404",
            "href": "/api/maestro/v1/errors/404",
            "code": "maestro-404",
            "reason": "The requested resource '/api/maestro/v1/nowhere' doesn't exist",
        },
        errors.Misconfigured,
    ),
    "a page of somebody else's": (404, None, errors.Misconfigured),
    "a duplicate consumer": (409, body(6, "This Consumer already exists"), errors.AlreadyExists),
    "a bad consumer name": (
        500,
        body(
            9, 'Unable to create Consumer: consumer.name: Invalid value: "Bad_Name": a lowercase RFC 1123 label must …'
        ),
        errors.Invalid,
    ),
    "an id in a body": (400, body(8, "id must be empty"), errors.Invalid),
    "a bad search": (400, body(21, "Failed to parse search query: bogus"), errors.Invalid),
    "an unknown column": (
        500,
        body(9, "Unable to list resources: ERROR: column resources.nocol does not exist (SQLSTATE 42703)"),
        errors.ServerError,
    ),
    "a consumer that still has works": (
        403,
        body(
            4,
            'Unable to delete Consumer: ERROR: update or delete on table "consumers" violates foreign key constraint '
            '"fk_resources_consumers" on table "resources" (SQLSTATE 23503)',
        ),
        errors.Conflict,
    ),
    "not allowed": (403, body(4, "Forbidden to perform this action"), errors.Forbidden),
    "a gateway that forbids": (403, "RBAC: access denied", errors.Forbidden),
    "a gateway that does not know us": (401, None, errors.Unauthenticated),
    "too large": (413, None, errors.TooLarge),
    "too many requests": (429, None, errors.Unavailable),
    "a gateway without a server": (503, "upstream connect error", errors.Unavailable),
    "a bad gateway": (502, None, errors.ServerError),
    "a gateway that gave up": (504, None, errors.ServerError),
    "a panic": (500, [], errors.ServerError),
    "a redirection": (302, None, errors.Misconfigured),
    "a refusal of somebody else": (418, {"reason": "teapot"}, errors.Misconfigured),
    "plain http to a TLS port": (400, None, errors.Misconfigured),
}


@pytest.mark.parametrize(("status", "answer", "kind"), BY_STATUS.values(), ids=BY_STATUS)
def test_each_answer_of_the_rest_server_has_its_name(status: int, answer: Any, kind: type[HyperFleetError]) -> None:
    error = from_http("get work 'w'", status, answer, {})
    assert type(error) is kind
    assert str(error).startswith("get work 'w': ")


def test_the_reason_of_a_rest_answer_is_reported() -> None:
    assert "Resource with id='zzz' not found" in str(from_http("get", 404, BY_STATUS["no such work"][1], {}))


def test_a_server_that_asks_to_come_back_later_says_when() -> None:
    error = from_http("get", 503, None, {"retry-after": "7"})
    assert isinstance(error, errors.Unavailable)
    assert error.retry_after == 7.0


def test_an_address_nobody_answers_at_is_named() -> None:
    error = unreachable("get work 'w'", "https://m:8000: [Errno 111] Connect call failed")
    assert type(error) is errors.Unavailable
    assert "https://m:8000" in str(error)


TLS_FAILURES: dict[str, tuple[str, type[HyperFleetError], str]] = {
    "Python, another CA": (
        "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate (_ssl.c:1006)",
        errors.Misconfigured,
        "MAESTRO_CA_FILE",
    ),
    "Python, another name": (
        "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: Hostname mismatch, certificate is not valid for 'm'.",
        errors.Misconfigured,
        "MAESTRO_GRPC_URL",
    ),
    "Python, no TLS": (
        "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)",
        errors.Misconfigured,
        "MAESTRO_GRPC_URL",
    ),
    "Python, no client certificate": (
        "[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] tlsv13 alert certificate required (_ssl.c:2576)",
        errors.Unauthenticated,
        "MAESTRO_CERT_FILE",
    ),
    "gRPC, another CA": (
        (
            "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:35943: Tls handshake failed "
            "(TSI_PROTOCOL_FAILURE): SSL_ERROR_SSL: error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED: "
            "unable to get local issuer certificate: OK"
        ),
        errors.Misconfigured,
        "MAESTRO_CA_FILE",
    ),
    "gRPC, no client certificate or another one": (
        (
            "failed to connect to all addresses; last error: UNAVAILABLE: ipv4:127.0.0.1:35775: Unwrap failed "
            "(TSI_DATA_CORRUPTED)"
        ),
        errors.Unauthenticated,
        "MAESTRO_CERT_FILE",
    ),
}


@pytest.mark.parametrize(("why", "kind", "setting"), TLS_FAILURES.values(), ids=TLS_FAILURES)
def test_tls_that_fails_by_its_settings_names_the_setting(why: str, kind: type[HyperFleetError], setting: str) -> None:
    error = unreachable("get work 'w'", why)
    assert type(error) is kind
    assert setting in error.remedy


def test_a_redirection_names_where_it_leads_and_the_setting_without_a_secret() -> None:
    error = from_http("get", 301, None, {"location": "https://me:s3cret@elsewhere/login"})
    assert "https://***@elsewhere/login" in str(error)
    assert "MAESTRO_API_URL" in error.remedy


def test_plain_http_to_a_tls_port_says_so() -> None:
    error = from_http("get", 400, None, {}, text="Client sent an HTTP request to an HTTPS server.")
    assert "speaks TLS" in str(error)
    assert "https://" in error.remedy


def test_rest_and_grpc_each_name_their_own_token() -> None:
    assert "MAESTRO_HTTP_TOKEN_FILE" in from_http("get", 401, None, {}).remedy
    assert "MAESTRO_TOKEN_FILE" in from_grpc("create", grpc.StatusCode.UNAUTHENTICATED, "").remedy


def test_a_remedy_names_what_was_set() -> None:
    names = MaestroSettings.load(
        {"HYPERFLEET_MAESTRO_GRPC_URL": "https://m:1"},
        {"http_server_address": "https://m", "source_id": "s", "auth": {"tls_config": {"ca_file": "/ca"}}},
    ).grpc_names
    error = unreachable("get", "CERTIFICATE_VERIFY_FAILED", names)
    assert "clients.maestro.auth.tls_config.ca_file" in error.remedy
    assert "HYPERFLEET_MAESTRO_GRPC_URL" in error.remedy


NOW = datetime(2026, 10, 21, 7, 28, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("120", 120.0),
        (" 5 ", 5.0),
        ("0", 0.0),
        ("Wed, 21 Oct 2026 07:29:30 GMT", 90.0),
        ("Wed, 21 Oct 2026 07:29:30 -0000", 90.0),
        ("Wed, 21 Oct 2026 07:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("²", None),
        ("٣", None),
        ("Wed, 99 Oct 2026 07:29:30 GMT", None),
    ],
)
def test_a_wait_is_a_number_or_a_date(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, NOW) == seconds


@settings(max_examples=150, deadline=None)
@given(
    st.text(max_size=30)
    | st.from_regex(
        re.compile(r"\w{3}, \d{1,2} Oct \d{1,5} \d{1,3}:\d\d:\d\d ([+-]\d{1,9}|GMT)", re.ASCII), fullmatch=True
    )
)
def test_no_header_breaks_the_reader(header: str) -> None:
    wait = retry_after(header, NOW)
    assert wait is None or wait >= 0.0
