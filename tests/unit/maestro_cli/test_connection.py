"""Which value of a connection counts, and that a mistake is named by what set it: flag, variable or context."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from maestro_cli.command_line import parse
from maestro_cli.connection.settings import maestro_settings, resolve
from maestro_cli.exits import UsageError
from shared.errors import HyperFleetError


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text("""
current_context: lab
contexts:
  lab: {source_id: from-lab, grpc_insecure: true}
  prod: {source_id: from-prod}
  broken: {grpc_endpoint: "a b", grpc_client_cert_file: nowhere.crt}
""")
    return path


@pytest.mark.parametrize(
    ("arguments", "variables", "value", "origin"),
    [
        pytest.param(["--source-id=f"], {"MAESTRO_SOURCE_ID": "v"}, "f", "--source-id", id="a flag wins"),
        pytest.param(
            ["--context=prod"], {"MAESTRO_SOURCE_ID": "v"}, "from-prod", "source_id of context 'prod'",
            id="a context that is asked for wins over the environment",
        ),
        pytest.param([], {"MAESTRO_SOURCE_ID": "v"}, "v", "MAESTRO_SOURCE_ID", id="the environment"),
        pytest.param([], {}, "from-lab", "source_id of context 'lab'", id="the current context"),
    ],
)  # fmt: skip
def test_the_first_that_is_set_counts(
    config: Path, arguments: list[str], variables: dict[str, str], value: str, origin: str
) -> None:
    found = resolve(parse(["list", f"--config={config}", *arguments]), variables)
    assert (found["source_id"], found.origins["source_id"]) == (value, origin)


@pytest.mark.parametrize(
    ("arguments", "variables", "named"),
    [
        pytest.param(["--grpc-endpoint=a b"], {}, "--grpc-endpoint: must be an address", id="flag"),
        pytest.param([], {"MAESTRO_GRPC_ENDPOINT": "a b"}, "MAESTRO_GRPC_ENDPOINT: must be", id="variable"),
        pytest.param([], {"MAESTRO_GRPC_URL": "a b"}, "MAESTRO_GRPC_URL: must be", id="another name of the variable"),
        pytest.param(["--context=broken", "--grpc-client-cert-file="], {}, "grpc_endpoint of context 'broken': must be", id="context"),
        pytest.param(["--context=broken"], {}, "grpc_client_cert_file of context 'broken': the file nowhere.crt", id="a file that a context names"),
        pytest.param(["--http-token-file=nowhere"], {}, "--http-token-file: the file nowhere", id="a file that a flag names"),
        pytest.param(["--http-endpoint=ftp://h"], {}, "--http-endpoint: must be an http", id="REST"),
        pytest.param(["--source-id="], {}, "--source-id: must be visible", id="an empty source"),
        pytest.param([], {"MAESTRO_GRPC_INSECURE": "perhaps"}, "MAESTRO_GRPC_INSECURE must be true or false", id="switch"),
        pytest.param(["--grpc-endpoint=grpc://h:1", "--grpc-insecure=false"], {}, "allow that with --grpc-insecure", id="plain gRPC"),
        pytest.param([], {"MAESTRO_GRPC_TOKEN": "t"}, "MAESTRO_GRPC_TOKEN would travel in the open: grpc_insecure of context 'lab'", id="a token without TLS"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_by_what_set_it(
    config: Path, arguments: list[str], variables: dict[str, str], named: str
) -> None:
    with ExitStack() as scope, pytest.raises(HyperFleetError) as refused:
        maestro_settings(resolve(parse(["list", f"--config={config}", *arguments]), variables), scope)
    assert named in str(refused.value)


def test_a_certificate_without_its_key_names_both_flags(config: Path, tmp_path: Path) -> None:
    certificate = tmp_path / "tls.crt"
    certificate.write_text("x")
    arguments = parse(["list", f"--config={config}", f"--grpc-client-cert-file={certificate}"])
    with ExitStack() as scope, pytest.raises(HyperFleetError) as refused:
        maestro_settings(resolve(arguments, {}), scope)
    assert "--grpc-client-cert-file: needs --grpc-client-key-file" in str(refused.value)


def test_a_config_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.yaml does not exist .*config set-context"):
        resolve(parse(["list", f"--config={tmp_path / 'nowhere.yaml'}"]), {})
    resolve(parse(["list"]), {"MAESTRO_CONFIG": str(tmp_path / "nowhere.yaml")})


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(b"contexts:\n\tlab: {}\n", "config.yaml:2:1 is not valid YAML: found character", id="a tab"),
        pytest.param(b"a: \0\n", "config.yaml is not valid YAML", id="a character that YAML has not"),
        pytest.param(b"a: caf\xe9\n", "config.yaml is not text in UTF-8", id="another encoding"),
    ],
)
def test_a_config_file_that_cannot_be_used_is_one_line(config: Path, content: bytes, problem: str) -> None:
    config.write_bytes(content)
    with pytest.raises(UsageError) as refused:
        resolve(parse(["list", f"--config={config}"]), {})
    assert problem in str(refused.value)
    assert "\n" not in str(refused.value)
