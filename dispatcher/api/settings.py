"""How the HyperFleet API is called where a call does not say so itself; the members of `clients.hyperfleet_api`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from shared import __version__
from shared.errors import Misconfigured, Problem
from shared.network.urls import usable_scheme

DEFAULT_ATTEMPTS = 3
USER_AGENT = f"hyperfleet-adapter/{__version__}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSettings:
    """Times are seconds. `retry_attempts` counts calls in all; 0 and less mean the default, as in Go."""

    base_url: str
    version: str = "v1"
    timeout: float = 10.0
    retry_attempts: int = DEFAULT_ATTEMPTS
    retry_backoff: str = "exponential"
    base_delay: float = 1.0
    max_delay: float = 30.0
    default_headers: Mapping[str, str] = field(default_factory=dict)
    token_path: Path | None = None
    token_cache_ttl: float = 0.0
    user_agent: str = USER_AGENT

    def __post_init__(self) -> None:
        if usable_scheme(self.base_url) not in ("http", "https"):
            why = f"{self.base_url!r} is not an http or https URL" if self.base_url else "it is empty"
            raise Misconfigured(
                "the HyperFleet API cannot be reached",
                [Problem("clients.hyperfleet_api.base_url", why)],
                remedy="set it, or HYPERFLEET_API_BASE_URL",
            )
