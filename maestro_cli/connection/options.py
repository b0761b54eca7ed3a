"""The settings of a connection: one table for flags, environment variables and the config file's contexts."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """`variables` in the order in which they count; `in_contexts` is False for what must not be kept in a file."""

    name: str
    meaning: str
    variables: tuple[str, ...] = ()
    default: str = ""
    is_switch: bool = False
    in_contexts: bool = True

    @property
    def flag(self) -> str:
        return f"--{self.name}"

    @property
    def attribute(self) -> str:
        return self.name.replace("-", "_")

    @property
    def help(self) -> str:
        notes = [f"${each}" for each in self.variables[:1]]
        notes += [f"default {self.default}"] if self.default else []
        return f"{self.meaning} ({', '.join(notes)})" if notes else self.meaning


OPTIONS: Final = (
    Option(
        name="grpc-endpoint",
        meaning="where Maestro's gRPC listens",
        variables=("MAESTRO_GRPC_ENDPOINT", "MAESTRO_GRPC_URL", "MAESTRO_GRPC_SERVER_ADDRESS"),
        default="localhost:8090",
    ),
    Option(
        name="http-endpoint",
        meaning="where Maestro's REST listens, with or without a scheme",
        variables=("MAESTRO_HTTP_ENDPOINT", "MAESTRO_API_URL", "MAESTRO_HTTP_SERVER_ADDRESS"),
        default="http://localhost:8000",
    ),
    Option(
        name="grpc-insecure",
        meaning="gRPC without TLS, REST without verification",
        variables=("MAESTRO_GRPC_INSECURE", "MAESTRO_INSECURE"),
        is_switch=True,
    ),
    Option(
        name="grpc-server-ca-file",
        meaning="authority that signed the gRPC server's certificate",
        variables=("MAESTRO_GRPC_SERVER_CA_FILE", "MAESTRO_CA_FILE"),
    ),
    Option(name="grpc-broker-ca-file", meaning="a further authority for the gRPC server"),
    Option(
        name="grpc-client-cert-file",
        meaning="our certificate",
        variables=("MAESTRO_GRPC_CLIENT_CERT", "MAESTRO_CERT_FILE"),
    ),
    Option(
        name="grpc-client-key-file",
        meaning="the key of our certificate",
        variables=("MAESTRO_GRPC_CLIENT_KEY", "MAESTRO_KEY_FILE"),
    ),
    Option(
        name="grpc-client-token",
        meaning="bearer token for gRPC; better give a file, because other users can see command lines",
        variables=("MAESTRO_GRPC_TOKEN",),
        in_contexts=False,
    ),
    Option(
        name="grpc-client-token-file",
        meaning="file with the bearer token for gRPC",
        variables=("MAESTRO_GRPC_TOKEN_FILE", "MAESTRO_TOKEN_FILE"),
    ),
    Option(name="http-ca-file", meaning="another authority for REST", variables=("MAESTRO_HTTP_CA_FILE",)),
    Option(name="http-token-file", meaning="bearer token for REST", variables=("MAESTRO_HTTP_TOKEN_FILE",)),
    Option(
        name="source-id",
        meaning="who sends: part of every work's id, works of other sources are not touched",
        variables=("MAESTRO_SOURCE_ID",),
        default="maestro-cli",
    ),
    Option(
        name="field-manager",
        meaning="name of this writer: its apply removes what it brought before, and only that",
        variables=("MAESTRO_FIELD_MANAGER",),
    ),
)
BY_ATTRIBUTE: Final[Mapping[str, Option]] = {each.attribute: each for each in OPTIONS}


# How `--switch=false` is handed to argparse, whose switches take no value and whose optional values swallow a command.
_EQUALS: Final = "-is"


def with_switch_values(arguments: Sequence[str]) -> list[str]:
    """The arguments with every `--switch=value` taken apart."""
    switches = {f"{each.flag}=": f"{each.flag}{_EQUALS}" for each in OPTIONS if each.is_switch}
    parted: list[str] = []
    for each in arguments:
        start = next((start for start in switches if each.startswith(start)), None)
        parted += [switches[start], each.removeprefix(start)] if start else [each]
    return parted


def add_to(parser: argparse.ArgumentParser) -> None:
    """The connection's flags. A flag that is not given leaves no trace, so that it may stand before the command too."""
    group = parser.add_argument_group("connection")
    group.add_argument("--context", metavar="NAME", default=argparse.SUPPRESS, help="context of the config file")
    group.add_argument("--config", metavar="FILE", default=argparse.SUPPRESS, help="the config file ($MAESTRO_CONFIG)")
    for option in OPTIONS:
        if option.is_switch:
            group.add_argument(
                option.flag, action="store_const", const="true", default=argparse.SUPPRESS, help=option.help
            )
            group.add_argument(
                f"{option.flag}{_EQUALS}", dest=option.attribute, default=argparse.SUPPRESS, help=argparse.SUPPRESS
            )
        else:
            metavar = "FILE" if option.name.endswith("file") else "VALUE"
            group.add_argument(option.flag, metavar=metavar, default=argparse.SUPPRESS, help=option.help)
