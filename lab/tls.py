"""TLS files of a server on loopback, for real servers and stand-ins."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Server certificate and key, and the CA of client certificates if they are required."""

    certificate: Path
    key: Path
    client_authority: Path | None = None
