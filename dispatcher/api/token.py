"""The bearer token of the HyperFleet API, which is renewed in its file under a running process."""

import time
from pathlib import Path

from shared.network.credential_files import TokenFile


class ApiToken:
    """`ttl` seconds long the file is not looked at again, unless the server refuses the token."""

    def __init__(self, path: Path, *, ttl: float) -> None:
        self._file, self._ttl = TokenFile(path), ttl
        self._header, self._read_at = self._file.header, time.monotonic()

    def header(self) -> str:
        if time.monotonic() - self._read_at >= self._ttl:
            return self.reload()
        return self._header

    def reload(self) -> str:
        self._header, self._read_at = self._file.header, time.monotonic()
        return self._header
