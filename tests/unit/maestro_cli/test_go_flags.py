"""Every flag and variable of the Go tool is accepted."""

from pathlib import Path

import pytest

from maestro_cli.command_line import parse
from maestro_cli.connection.settings import resolve

GO_GLOBAL = [
    "--grpc-endpoint=h:1",
    "--http-endpoint=http://h:1",
    "--grpc-insecure=false",
    "--grpc-insecure",
    "--grpc-server-ca-file=f",
    "--grpc-client-cert-file=f",
    "--grpc-client-key-file=f",
    "--grpc-broker-ca-file=f",
    "--grpc-client-token=t",
    "--grpc-client-token-file=f",
    "--source-id=s",
    "--results-path=f",
    "--output=json",
    "--timeout=5m",
    "--verbose",
]
WORK_AND_CONSUMER = ["--name=w", "--consumer=c"]
GO_COMMANDS = {
    "apply": ["--manifest-file=f", "--consumer=c", "--wait", "--wait=Available"],
    "delete": [*WORK_AND_CONSUMER, "--wait", "--dry-run"],
    "get": WORK_AND_CONSUMER,
    "list": ["--consumer=c", "--filter=x"],
    "describe": WORK_AND_CONSUMER,
    "wait": [*WORK_AND_CONSUMER, "--for=Available"],
    "watch": [*WORK_AND_CONSUMER, "--poll-interval=1s"],
    "validate": ["--manifest-file=f"],
    "diff": ["--manifest-file=f", "--consumer=c"],
    "build": [
        *WORK_AND_CONSUMER,
        *("--source-file=f", "--output-file=f", "--strategy=merge", "--apply", "--wait=A", "--dry-run", "--force"),
    ],
    "tui": [],
    "version": [],
}


@pytest.mark.parametrize("command", GO_COMMANDS)
def test_every_flag_of_the_go_tool_is_accepted_before_and_behind_the_command(command: str) -> None:
    parse([command, *GO_COMMANDS[command], *GO_GLOBAL])
    parse([*GO_GLOBAL, command, *GO_COMMANDS[command]])


@pytest.mark.parametrize(
    ("variable", "value", "attribute"),
    [
        ("MAESTRO_GRPC_ENDPOINT", "h:1", "grpc_endpoint"),
        ("MAESTRO_HTTP_ENDPOINT", "http://h", "http_endpoint"),
        ("MAESTRO_GRPC_INSECURE", "yes", "grpc_insecure"),
        ("MAESTRO_GRPC_SERVER_CA_FILE", "f", "grpc_server_ca_file"),
        ("MAESTRO_GRPC_CLIENT_CERT", "f", "grpc_client_cert_file"),
        ("MAESTRO_GRPC_CLIENT_KEY", "f", "grpc_client_key_file"),
        ("MAESTRO_GRPC_TOKEN", "t", "grpc_client_token"),
        ("MAESTRO_GRPC_TOKEN_FILE", "f", "grpc_client_token_file"),
        ("MAESTRO_SOURCE_ID", "s", "source_id"),
    ],
)
def test_every_variable_of_the_go_tool_counts_and_a_flag_wins(
    variable: str, value: str, attribute: str, tmp_path: Path
) -> None:
    environment = {variable: value, "MAESTRO_CONFIG": str(tmp_path / "none.yaml")}
    assert resolve(parse(["list"]), environment)[attribute] == value
    flag = f"--{attribute.replace('_', '-')}=other"
    assert resolve(parse(["list", flag]), environment)[attribute] == "other"
