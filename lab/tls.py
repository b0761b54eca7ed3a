"""What a server on loopback needs to speak TLS, the same for real servers and stand-ins."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Server certificate and key, and the authority of clients' certificates where they are asked for one."""

    certificate: Path
    key: Path
    client_authority: Path | None = None
