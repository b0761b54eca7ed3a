"""Settings of the Maestro client: where they come from, which one wins, and everything that cannot work."""

from pathlib import Path
from typing import Any

import pytest

from shared.errors import Misconfigured
from shared.maestro.config.settings import MaestroSettings

REQUIRED = {"MAESTRO_GRPC_URL": "https://m:8090", "MAESTRO_API_URL": "https://m:8000", "MAESTRO_SOURCE_ID": "adapter-1"}


def settings(**values: Any) -> MaestroSettings:
    good = {"grpc_server_address": "https://m:8090", "http_server_address": "https://m:8000", "source_id": "s"}
    return MaestroSettings(**(good | values))


def problems(**values: Any) -> list[str]:
    try:
        settings(**values)
    except Misconfigured as refusal:
        return [problem.path for problem in refusal.problems]
    return []


class TestWhereTheyComeFrom:
    def test_the_documents_names_are_enough(self) -> None:
        loaded = MaestroSettings.load(REQUIRED)
        assert (loaded.grpc_target, loaded.api_url) == ("m:8090", "https://m:8000/api/maestro/v1")
        assert loaded.source_id == "adapter-1"

    def test_a_file_says_everything_under_the_go_frameworks_names(self) -> None:
        section = {
            "grpc_server_address": "m:8090",
            "http_server_address": "https://m:8000",
            "source_id": "adapter-1",
            "client_id": "adapter-1-client",
            "auth": {
                "type": "tls",
                "tls_config": {
                    "ca_file": "/ca",
                    "cert_file": "/cert",
                    "key_file": "/key",
                    "http_ca_file": "/http-ca",
                },
                "token_file": "/token",
                "http_token_file": "/http-token",
            },
            "insecure": False,
            "timeout": "5s",
            "server_healthiness_timeout": "20s",
            "keepalive": {"time": "40s", "timeout": "1500ms"},
            "retry_attempts": 5,
            "retry_budget": "1m",
            "relist_interval": 60,
            "owner_labels": {"hyperfleet.io/managed-by": "adapter-1"},
        }
        assert MaestroSettings.load({}, section) == MaestroSettings(
            grpc_server_address="m:8090",
            http_server_address="https://m:8000",
            source_id="adapter-1",
            ca_file=Path("/ca"),
            cert_file=Path("/cert"),
            key_file=Path("/key"),
            http_ca_file=Path("/http-ca"),
            token_file=Path("/token"),
            http_token_file=Path("/http-token"),
            timeout=5.0,
            server_healthiness_timeout=20.0,
            keepalive_time=40.0,
            keepalive_timeout=1.5,
            retry_attempts=5,
            retry_budget=60.0,
            relist_interval=60.0,
            owner_labels={"hyperfleet.io/managed-by": "adapter-1"},
        )

    @pytest.mark.parametrize(
        ("variable", "value", "name", "expected"),
        [
            ("MAESTRO_GRPC_SERVER_ADDRESS", "https://other:1", "grpc_server_address", "https://other:1"),
            ("MAESTRO_HTTP_SERVER_ADDRESS", "https://other:1", "http_server_address", "https://other:1"),
            ("MAESTRO_INSECURE", "true", "insecure", True),
            ("MAESTRO_INSECURE", "F", "insecure", False),
            ("MAESTRO_CA_FILE", "/ca", "ca_file", Path("/ca")),
            ("MAESTRO_TOKEN_FILE", " /token ", "token_file", Path("/token")),
            ("MAESTRO_HTTP_CA_FILE", "/ca", "http_ca_file", Path("/ca")),
            ("MAESTRO_HTTP_TOKEN_FILE", "/token", "http_token_file", Path("/token")),
            ("MAESTRO_TIMEOUT", "2.5", "timeout", 2.5),
            ("MAESTRO_KEEPALIVE_TIME", "1m", "keepalive_time", 60.0),
            ("MAESTRO_RETRY_ATTEMPTS", "1", "retry_attempts", 1),
            ("MAESTRO_OWNER_LABELS", "a=b, c=", "owner_labels", {"a": "b", "c": ""}),
        ],
    )
    def test_each_one_has_a_variable(self, variable: str, value: str, name: str, expected: object) -> None:
        section = {"grpc_server_address": "https://m:8090", "http_server_address": "https://m:8000", "source_id": "s"}
        assert getattr(MaestroSettings.load({variable: value}, section), name) == expected

    def test_the_environment_wins_over_the_file(self) -> None:
        section = {"source_id": "from-file", "timeout": "1s"}
        loaded = MaestroSettings.load(REQUIRED | {"MAESTRO_SOURCE_ID": "from-environment"}, section)
        assert (loaded.source_id, loaded.timeout) == ("from-environment", 1.0)

    def test_the_prefixed_variable_wins_over_the_plain_one(self) -> None:
        loaded = MaestroSettings.load(REQUIRED | {"HYPERFLEET_MAESTRO_SOURCE_ID": "prefixed"})
        assert loaded.source_id == "prefixed"

    def test_an_empty_variable_is_as_good_as_none(self) -> None:
        loaded = MaestroSettings.load(REQUIRED | {"HYPERFLEET_MAESTRO_SOURCE_ID": " ", "MAESTRO_CA_FILE": ""})
        assert (loaded.source_id, loaded.ca_file) == ("adapter-1", None)

    def test_an_empty_or_null_member_of_the_file_is_as_good_as_none(self) -> None:
        section = {"auth": {"tls_config": {"ca_file": "", "cert_file": None}, "token_file": " "}, "owner_labels": None}
        loaded = MaestroSettings.load(REQUIRED, section)
        assert (loaded.ca_file, loaded.cert_file, loaded.token_file, loaded.owner_labels) == (None, None, None, {})

    def test_a_file_on_disk_is_read_at_its_clients_maestro(self, tmp_path: Path) -> None:
        path = tmp_path / "adapter-config.yaml"
        path.write_text("clients:\n  maestro:\n    source_id: adapter-1\n    timeout: 7s\n  other: {}\n")
        loaded = MaestroSettings.from_file(
            path, {key: REQUIRED[key] for key in ("MAESTRO_GRPC_URL", "MAESTRO_API_URL")}
        )
        assert (loaded.source_id, loaded.timeout) == ("adapter-1", 7.0)

    @pytest.mark.parametrize("content", ["", "[]", "clients: 5", "clients: {maestro: []}", "clients: {maestro: null}"])
    def test_a_file_without_that_part_leaves_it_to_the_environment(self, tmp_path: Path, content: str) -> None:
        path = tmp_path / "adapter-config.yaml"
        path.write_text(content)
        assert MaestroSettings.from_file(path, REQUIRED).source_id == "adapter-1"

    @pytest.mark.parametrize(
        "content", [None, b"a: [", b"\xff\xfe\xff", b"a: \x00"], ids=["absent", "cut", "no text", "NUL"]
    )
    def test_a_file_that_cannot_be_read_is_a_misconfiguration(self, tmp_path: Path, content: bytes | None) -> None:
        path = tmp_path / "adapter-config.yaml"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(Misconfigured, match="cannot be read"):
            MaestroSettings.from_file(path, REQUIRED)


class TestWhatCannotWork:
    def test_everything_missing_or_wrong_is_reported_at_once_with_its_name(self) -> None:
        section = {"auth": {"tls_config": {"ca": "/x"}}, "timeout": "soon", "source_id": 5, "retry_attempts": "many"}
        with pytest.raises(Misconfigured) as refusal:
            MaestroSettings.load({"MAESTRO_INSECURE": "perhaps"}, section)
        problems = {problem.path: problem.message for problem in refusal.value.problems}
        assert problems.keys() == {
            "clients.maestro.auth.tls_config.ca",
            "clients.maestro.timeout",
            "clients.maestro.source_id",
            "clients.maestro.retry_attempts",
            "MAESTRO_INSECURE",
            "clients.maestro.grpc_server_address",
            "clients.maestro.http_server_address",
        }
        assert problems["clients.maestro.grpc_server_address"] == "must be set (or MAESTRO_GRPC_URL)"

    def test_what_is_missing_without_a_file_is_a_variable(self) -> None:
        with pytest.raises(Misconfigured) as refusal:
            MaestroSettings.load({"MAESTRO_TIMEOUT": "soon", "MAESTRO_KEEPALIVE_TIME": "1s"})
        assert [problem.path for problem in refusal.value.problems] == [
            "MAESTRO_TIMEOUT",
            "MAESTRO_GRPC_URL",
            "MAESTRO_API_URL",
            "MAESTRO_SOURCE_ID",
            "MAESTRO_KEEPALIVE_TIME",
        ]

    @pytest.mark.parametrize(
        ("variables", "section", "name"),
        [
            pytest.param({"MAESTRO_API_URL": "http://m"}, None, "MAESTRO_API_URL", id="a variable"),
            pytest.param(
                {"HYPERFLEET_MAESTRO_HTTP_SERVER_ADDRESS": "http://m"},
                {"http_server_address": "https://m"},
                "HYPERFLEET_MAESTRO_HTTP_SERVER_ADDRESS",
                id="a variable over a file",
            ),
            pytest.param(
                {"MAESTRO_API_URL": ""},
                {"http_server_address": "http://m"},
                "clients.maestro.http_server_address",
                id="a file",
            ),
        ],
    )
    def test_a_problem_has_the_name_that_was_set(
        self, variables: dict[str, str], section: dict[str, Any] | None, name: str
    ) -> None:
        with pytest.raises(Misconfigured) as refusal:
            MaestroSettings.load(REQUIRED | variables, section)
        assert [problem.path for problem in refusal.value.problems] == [name]

    def test_a_derived_value_counts_where_nothing_is_set_and_blames_what_it_follows_from(self) -> None:
        derived = {"keepalive_time": (1.0, "TIME_BUDGET"), "source_id": ("derived", "DEFAULT")}
        with pytest.raises(Misconfigured) as refusal:
            MaestroSettings.load(
                {key: REQUIRED[key] for key in ("MAESTRO_GRPC_URL", "MAESTRO_API_URL")}, derived=derived
            )
        assert [problem.path for problem in refusal.value.problems] == ["TIME_BUDGET"]
        loaded = MaestroSettings.load(REQUIRED | {"MAESTRO_KEEPALIVE_TIME": "1m"}, derived=derived)
        assert (loaded.keepalive_time, loaded.source_id) == (60.0, "adapter-1")

    def test_no_problem_shows_a_password(self) -> None:
        secret = {"MAESTRO_GRPC_URL": "grpc://admin:s3cret@m:1", "MAESTRO_API_URL": "ftp://admin:s3cret@m"}
        with pytest.raises(Misconfigured) as refusal:
            MaestroSettings.load(REQUIRED | secret)
        assert len(refusal.value.problems) == 2
        assert "s3cret" not in str(refusal.value)

    @pytest.mark.parametrize(
        ("values", "paths"),
        [
            pytest.param({}, [], id="nothing"),
            pytest.param({"grpc_server_address": ""}, ["grpc_server_address"], id="no address"),
            pytest.param({"grpc_server_address": "ftp://m:1"}, ["grpc_server_address", "ca_file"], id="another scheme"),
            pytest.param({"grpc_server_address": "https://u:p@m:1"}, ["grpc_server_address"], id="gRPC with a user"),
            pytest.param({"grpc_server_address": "https://m..svc:1"}, ["grpc_server_address"], id="an empty label"),
            pytest.param(
                {"http_server_address": "https://m..svc:1"}, ["http_server_address"], id="REST, an empty label"
            ),
            pytest.param(
                {"http_server_address": "https://m\u00e4:1"}, ["http_server_address"], id="a host that is not ASCII"
            ),
            pytest.param({"source_id": "s\u00f6urce"}, ["source_id"], id="a source id that is not ASCII"),
            pytest.param({"source_id": "a b"}, ["source_id"], id="a source id with a space"),
            pytest.param({"keepalive_time": 600 * 3600.0}, ["keepalive_time"], id="pings that gRPC cannot count"),
            pytest.param({"grpc_server_address": "https://"}, ["grpc_server_address"], id="a scheme alone"),
            pytest.param(
                {"grpc_server_address": "https://[::1:8090"}, ["grpc_server_address"], id="a broken IPv6 address"
            ),
            pytest.param({"grpc_server_address": "https://m:99999"}, ["grpc_server_address"], id="no such port"),
            pytest.param(
                {"grpc_server_address": "http://m:8090", "ca_file": Path("/ca")},
                ["grpc_server_address"],
                id="gRPC in the open, unsaid",
            ),
            pytest.param({"http_server_address": "m:8000"}, ["http_server_address"], id="REST without a scheme"),
            pytest.param({"http_server_address": "https://[bad"}, ["http_server_address"], id="a broken REST address"),
            pytest.param({"http_server_address": "https://m:port"}, ["http_server_address"], id="a port that is none"),
            pytest.param(
                {"http_server_address": "http://m:8000"}, ["http_server_address"], id="REST in the open, unsaid"
            ),
            pytest.param({"source_id": ""}, ["source_id"], id="no source id"),
            pytest.param({"source_id": "it's"}, ["source_id"], id="a source id with a quote"),
            pytest.param({"cert_file": Path("/cert")}, ["cert_file"], id="a certificate without its key"),
            pytest.param({"key_file": Path("/key")}, ["key_file"], id="a key without its certificate"),
            pytest.param({"grpc_server_address": "m:8090"}, ["ca_file"], id="TLS that can verify nothing"),
            pytest.param({"timeout": 0}, ["timeout"], id="no time at all"),
            pytest.param({"retry_attempts": 0}, ["retry_attempts"], id="no attempt"),
            pytest.param({"relist_interval": 0}, ["relist_interval"], id="listing without a pause"),
            pytest.param({"keepalive_time": 9.9}, ["keepalive_time"], id="pings faster than the server allows"),
            pytest.param({"keepalive_timeout": 0}, ["keepalive_timeout"], id="no timeout for a ping"),
        ],
    )
    def test_each_thing_that_cannot_work_is_named(self, values: dict[str, Any], paths: list[str]) -> None:
        assert problems(**values) == paths

    def test_a_token_without_tls_is_refused_unless_that_is_said(self) -> None:
        with pytest.raises(Misconfigured, match="token would travel in the open"):
            settings(grpc_server_address="m:8090", token_file=Path("/token"))
        assert problems(grpc_server_address="m:8090", token_file=Path("/token"), insecure=True) == []
        assert problems(grpc_server_address="m:8090", token_file=Path("/token"), ca_file=Path("/ca")) == []

    def test_said_so_everything_may_be_in_the_open(self) -> None:
        assert problems(grpc_server_address="http://m:1", http_server_address="http://m:2", insecure=True) == []


class TestWhatFollowsFromThem:
    @pytest.mark.parametrize(
        ("address", "target"),
        [
            ("m:8090", "m:8090"),
            ("https://m:8090", "m:8090"),
            ("grpcs://m:8090/ignored", "m:8090"),
            ("HTTPS://m:8090", "m:8090"),
            ("https://[::1]:8090", "[::1]:8090"),
        ],
    )
    def test_the_grpc_address_may_be_a_url(self, address: str, target: str) -> None:
        assert settings(grpc_server_address=address, ca_file=Path("/ca")).grpc_target == target

    @pytest.mark.parametrize(
        "address",
        ["https://m:8000", "https://m:8000/", "https://m:8000/api/maestro/v1", "https://m:8000/api/maestro/v1/"],
    )
    def test_the_rest_address_may_or_may_not_have_its_path(self, address: str) -> None:
        assert settings(http_server_address=address).api_url == "https://m:8000/api/maestro/v1"

    def test_rest_has_its_own_authority_or_shares_the_other(self) -> None:
        shared, own = Path("/ca"), Path("/http-ca")
        assert settings(ca_file=shared).rest_ca_file == shared
        assert settings(ca_file=shared, http_ca_file=own).rest_ca_file == own

    def test_the_token_of_one_side_is_not_given_to_the_other(self) -> None:
        assert settings(token_file=Path("/token")).http_token_file is None

    def test_no_answer_makes_the_client_wait_for_longer_than_the_budget(self) -> None:
        policy = settings().retry
        assert (policy.attempts, policy.budget) == (3, 60.0)
