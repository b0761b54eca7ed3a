"""Certificates and tokens on disk, which are renewed under a running process.

`Watched` tells cheaply whether files changed since they were last read; what is built from them is then built anew.
"""

import logging
import re
import ssl
from collections.abc import Sequence
from pathlib import Path

import grpc

from shared.errors import Misconfigured
from shared.maestro.settings import MaestroSettings
from shared.trust import verifying

log = logging.getLogger(__name__)

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
                log.warning("the former token goes on to be used: %s", error)
        return f"Bearer {self._token}"

    def _read(self) -> str:
        token = read_file(self._path, "token").strip()
        if not _TOKEN.fullmatch(token):
            why = "it must be one word of visible ASCII characters" if token else "it is empty"
            raise Misconfigured(f"the token file {self._path} holds no token", why=why)
        return token.decode()


def channel_credentials(settings: MaestroSettings) -> grpc.ChannelCredentials | None:
    """TLS for gRPC, None where the settings say to go without."""
    if settings.insecure:
        return None
    return grpc.ssl_channel_credentials(
        root_certificates=_optional(settings.ca_file, "CA"),
        private_key=_optional(settings.key_file, "client key"),
        certificate_chain=_optional(settings.cert_file, "client certificate"),
    )


def rest_context(settings: MaestroSettings) -> ssl.SSLContext:
    """TLS for REST; plain http gets a context that verifies nothing, because building a real one costs start time."""
    if settings.insecure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    authority = settings.rest_ca_file
    try:
        return verifying(authority)
    except (OSError, ssl.SSLError) as error:
        raise Misconfigured(f"the CA file {authority} cannot be used", why=str(error)) from error


def read_file(path: Path, role: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Misconfigured(f"the {role} file {path} cannot be read", why=error.strerror or str(error)) from error


def _optional(path: Path | None, role: str) -> bytes | None:
    return None if path is None else read_file(path, role)


def _identity(file: Path) -> tuple[int, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    # The time of the last change of any kind: the time of modification can be set, and says nothing of rights.
    return status.st_ino, status.st_ctime_ns, status.st_size
