"""Tokens and certificates on disk, which are renewed under a running process.

`Watched` says cheaply whether files changed since they were last read; what is built from them is then built anew.
"""

import logging
import re
from collections.abc import Sequence
from pathlib import Path

from shared.errors import Misconfigured
from shared.files import read_regular_file
from shared.redaction import register_secret

log = logging.getLogger(__name__)

# Far more than any certificate bundle has.
MAX_BYTES = 4 * 1024 * 1024
# What a header can carry.
_TOKEN = re.compile(rb"[!-~]+")

Fingerprint = tuple[tuple[int, int, int] | None, ...]


class Watched:
    """Files of which only the change matters. A file that is not there counts as one state of it."""

    def __init__(self, files: Sequence[Path | None]) -> None:
        self._files = [file for file in files if file is not None]
        self._seen = self._fingerprint()

    def changed(self) -> bool:
        """Whether anything changed since the last call, or since the beginning."""
        current = self._fingerprint()
        before, self._seen = self._seen, current
        return current != before

    def _fingerprint(self) -> Fingerprint:
        return tuple(_identity(file) for file in self._files)


class TokenFile:
    """A bearer token, read again when its file changes; the last good one serves while the file cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._watched = Watched([path])
        self._token = self._read()

    @property
    def header(self) -> str:
        if self._watched.changed():
            try:
                self._token = self._read()
            except Misconfigured as error:
                log.warning("keeping the previous token: %s", error)
        return f"Bearer {self._token}"

    def _read(self) -> str:
        token = read_file(self._path, "token").strip()
        if not _TOKEN.fullmatch(token):
            why = "it must be one line of visible ASCII characters" if token else "it is empty"
            raise Misconfigured(f"the token file {self._path} holds no token", why=why)
        text = token.decode()
        register_secret(text)
        return text


def read_file(path: Path, role: str) -> bytes:
    try:
        return read_regular_file(path, MAX_BYTES)
    except OSError as error:
        raise Misconfigured(f"the {role} file {path} cannot be read", why=error.strerror or str(error)) from error


def _identity(file: Path) -> tuple[int, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    # The time of the last change of any kind: the time of modification can be set, and says nothing of rights.
    return status.st_ino, status.st_ctime_ns, status.st_size
