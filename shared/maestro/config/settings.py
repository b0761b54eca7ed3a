"""Maestro's addresses, credentials and limits, from the environment, a YAML file or code.

All problems are reported at once, each under the name by which the value was set.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from shared.errors import Misconfigured, Problem
from shared.maestro.config.checks import problems_of, split_address
from shared.maestro.config.sources import read_sources
from shared.maestro.refusals import Names
from shared.retry import LONGEST_WAIT_SECONDS, RetryPolicy

_API_PATH = "/api/maestro/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class MaestroSettings:
    """`source_id` is part of every work's id: never change it once works exist.

    `insecure` means gRPC without TLS and REST without verification, and is the only way to send a token in the open.
    `plain_http` allows REST by http alone, as a port-forward gives it, without a token.
    A token goes to the server it was configured for: `token_file` to gRPC, `http_token_file` to REST.
    `origins` names what set a field: a variable, a member of a file or an option. Messages use it.
    """

    grpc_server_address: str
    http_server_address: str
    source_id: str
    insecure: bool = False
    plain_http: bool = False
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    token_file: Path | None = None
    http_ca_file: Path | None = None
    http_token_file: Path | None = None
    timeout: float = 10.0
    server_healthiness_timeout: float = 20.0
    keepalive_time: float = 30.0
    keepalive_timeout: float = 10.0
    retry_attempts: int = 3
    retry_budget: float = 60.0
    relist_interval: float = 300.0
    owner_labels: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        if problems := problems_of(values, self.name_of):
            raise _misconfigured(problems)

    def name_of(self, member: str) -> str:
        """What a message calls the field."""
        return self.origins.get(member, member)

    @property
    def grpc_target(self) -> str:
        return split_address(self.grpc_server_address)[1]

    @property
    def api_url(self) -> str:
        return self.http_server_address.rstrip("/").removesuffix(_API_PATH) + _API_PATH

    @property
    def rest_ca_file(self) -> Path | None:
        return self.http_ca_file or self.ca_file

    @property
    def rest_names(self) -> Names:
        ca = "http_ca_file" if self.http_ca_file else "ca_file"
        return self._names("http_server_address", "http_token_file", ca)

    @property
    def grpc_names(self) -> Names:
        return self._names("grpc_server_address", "token_file", "ca_file")

    def _names(self, address: str, token: str, ca: str) -> Names:
        return Names(*map(self.name_of, (address, token, ca, "cert_file")))

    @property
    def retry(self) -> RetryPolicy:
        # No single wait may use up the budget: an outage of half of it must not end a run by chance.
        longest = min(LONGEST_WAIT_SECONDS, self.retry_budget / 6)
        return RetryPolicy(attempts=self.retry_attempts, budget=self.retry_budget, max_delay=longest)

    @classmethod
    def load(
        cls,
        environment: Mapping[str, str],
        clients_maestro: Mapping[str, Any] | None = None,
        *,
        derived: Mapping[str, tuple[Any, str]] | None = None,
    ) -> Self:
        """Settings from the environment over those of a file's `clients.maestro`.

        `derived` has values for fields that neither sets, each with the name of the setting it follows from.
        """
        found = read_sources(environment, clients_maestro, derived or {})
        known = {each.path for each in found.problems}
        problems = found.problems + [
            each for each in problems_of(found.values, found.origins.__getitem__) if each.path not in known
        ]
        if problems:
            raise _misconfigured(problems)
        return cls(**found.values, origins=found.origins)

    @classmethod
    def from_file(cls, path: Path, environment: Mapping[str, str]) -> Self:
        """Settings from the `clients.maestro` of an adapter's configuration file, under the environment's."""
        import yaml  # noqa: PLC0415 - only those who have a file pay for the parser

        try:
            document = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise Misconfigured(f"{path} cannot be read", why=str(error)) from error
        clients = document.get("clients") if isinstance(document, Mapping) else None
        section = clients.get("maestro") if isinstance(clients, Mapping) else None
        return cls.load(environment, section if isinstance(section, Mapping) else {})


def _misconfigured(problems: list[Problem]) -> Misconfigured:
    return Misconfigured("the Maestro client cannot be set up", problems)
