"""From options to the Maestro client's settings.

The first that is set counts: flag, context of `--context`, environment, current context, default.
"""

import argparse
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maestro_cli.connection.contexts import ConfigFile, default_path
from maestro_cli.connection.options import OPTIONS
from maestro_cli.exits import UsageError
from shared.maestro import MaestroSettings

_TRUE: Final = frozenset({"true", "1", "yes"})
_FALSE: Final = frozenset({"false", "0", "no", ""})


def config_file(arguments: argparse.Namespace, environment: Mapping[str, str]) -> ConfigFile:
    path = getattr(arguments, "config", "")
    return ConfigFile.read(Path(path) if path else default_path(environment))


@dataclass(frozen=True, slots=True)
class Connection:
    """The value of every option, "" where there is none, and what set it: a flag, a variable or a context's member."""

    values: Mapping[str, str]
    origins: Mapping[str, str]

    def __getitem__(self, attribute: str) -> str:
        return self.values[attribute]

    def path(self, attribute: str) -> Path | None:
        """The file that an option names. Raises UsageError where there is none."""
        if not self[attribute]:
            return None
        path = Path(self[attribute]).expanduser()
        if not path.is_file():
            raise UsageError(f"{self.origins[attribute]}: the file {path} does not exist or is no file")
        return path


def resolve(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Connection:
    file, asked = config_file(arguments, environment), getattr(arguments, "context", "")
    if getattr(arguments, "config", "") and not file.path.exists():
        remedy = f"correct --config, or begin it with `maestro-cli config set-context NAME --config {file.path}`"
        raise UsageError(f"the config file {file.path} does not exist", remedy=remedy)
    name_of_context, context = asked or file.current, file.context(asked)
    values: dict[str, str] = {}
    origins: dict[str, str] = {}
    for option in OPTIONS:
        name = option.attribute
        variables = [(each, environment[each]) for each in option.variables if environment.get(each, "").strip()]
        member = (f"{name} of context {name_of_context!r}", context.get(name))
        candidates = [
            (option.flag, getattr(arguments, name, None)),
            *([member, *variables] if asked else [*variables, member]),
            (option.flag, option.default),
        ]
        origins[name], value = next((origin, value) for origin, value in candidates if value is not None)
        values[name] = str(value).strip()
    return Connection(values, origins)


# The client's fields, by the option that sets each of them.
_FIELDS: Final = {
    "grpc_server_address": "grpc_endpoint",
    "http_server_address": "http_endpoint",
    "source_id": "source_id",
    "insecure": "grpc_insecure",
    "ca_file": "grpc_server_ca_file",
    "cert_file": "grpc_client_cert_file",
    "key_file": "grpc_client_key_file",
    "token_file": "grpc_client_token_file",
    "http_ca_file": "http_ca_file",
    "http_token_file": "http_token_file",
}


def maestro_settings(chosen: Connection, scope: ExitStack, *, timeout: float | None = None) -> MaestroSettings:
    """Settings of the client; a token or bundle that exists only in memory gets a private file until `scope` ends."""
    insecure = _switch(chosen)
    authority = _authority(chosen, scope)
    token_option = "grpc_client_token" if chosen["grpc_client_token"] else "grpc_client_token_file"
    token = _token(chosen, scope)
    if token and insecure:
        raise UsageError(
            f"the token of {chosen.origins[token_option]} would travel in the open",
            remedy=f"leave out {chosen.origins['grpc_insecure']}, or the token",
            why=f"{chosen.origins['grpc_insecure']} is set",
        )
    return MaestroSettings(
        grpc_server_address=_grpc_address(chosen["grpc_endpoint"], insecure=insecure, verified=bool(authority)),
        http_server_address=_http_address(chosen["http_endpoint"]),
        source_id=chosen["source_id"],
        insecure=insecure,
        plain_http=True,
        ca_file=authority,
        cert_file=chosen.path("grpc_client_cert_file"),
        key_file=chosen.path("grpc_client_key_file"),
        token_file=token,
        http_ca_file=chosen.path("http_ca_file"),
        http_token_file=chosen.path("http_token_file"),
        retry_budget=min(60.0, timeout) if timeout else 60.0,
        origins={field: chosen.origins[option] for field, option in (_FIELDS | {"token_file": token_option}).items()},
    )


def _switch(chosen: Connection) -> bool:
    value = chosen["grpc_insecure"].lower()
    if value not in _TRUE | _FALSE:
        raise UsageError(f"{chosen.origins['grpc_insecure']} must be true or false, not {value!r}")
    return value in _TRUE


def _grpc_address(endpoint: str, *, insecure: bool, verified: bool) -> str:
    if "://" in endpoint or insecure or verified:
        return endpoint
    return f"https://{endpoint}"  # trusts the system's authorities


def _http_address(endpoint: str) -> str:
    return endpoint if "://" in endpoint else f"http://{endpoint}"


def _authority(chosen: Connection, scope: ExitStack) -> Path | None:
    files = [chosen.path(each) for each in ("grpc_server_ca_file", "grpc_broker_ca_file")]
    given = [each for each in files if each is not None]
    if len(given) < 2:  # noqa: PLR2004 - with two, both are trusted
        return given[0] if given else None
    return _private_file(b"\n".join(each.read_bytes() for each in given), scope)


def _token(chosen: Connection, scope: ExitStack) -> Path | None:
    if chosen["grpc_client_token"]:
        return _private_file(chosen["grpc_client_token"].encode(), scope)
    return chosen.path("grpc_client_token_file")


def _private_file(content: bytes, scope: ExitStack) -> Path:
    folder = scope.enter_context(tempfile.TemporaryDirectory(prefix="maestro-cli-"))
    path = Path(folder) / "content"
    path.touch(mode=0o600)
    path.write_bytes(content)
    return path
