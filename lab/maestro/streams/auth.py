"""Authentication and authorization of sources. Like the real server it checks only when the port uses TLS.

A caller authenticates with a bearer token or, if the server asks for client certificates, with its subject.
"""

import ssl
from collections.abc import Iterator
from dataclasses import dataclass

import grpc

from lab.maestro.streams.calls import Context, Failed
from lab.tls import Tls

_COMMON_NAME, _ORGANISATION = bytes.fromhex("550403"), bytes.fromhex("55040a")
_SEQUENCE, _OBJECT_ID, _VERSION = 0x30, 0x06, 0xA0


@dataclass(frozen=True, slots=True, kw_only=True)
class Auth:
    tls: Tls | None
    known_tokens: tuple[str, ...]
    forbidden_sources: tuple[str, ...]

    def identify(self, context: Context) -> None:
        """Raises Failed for a caller that is not authenticated."""
        if self.tls is None:
            return
        if self.tls.client_authority:
            _require_subject(context)
        else:
            self._require_token(context)

    def require(self, source: str, doing: str) -> None:
        """Raises Failed if the caller may not use this source; `doing` is `publish` or `subscribe`."""
        if self.tls is not None and source in self.forbidden_sources:
            raise Failed(grpc.StatusCode.UNKNOWN, f"unauthorized to {doing} the event from source {source}")

    def credentials(self) -> grpc.ServerCredentials | None:
        if self.tls is None:
            return None
        pair = (self.tls.key.read_bytes(), self.tls.certificate.read_bytes())
        if self.tls.client_authority is None:
            return grpc.ssl_server_credentials([pair])
        authority = self.tls.client_authority.read_bytes()
        return grpc.ssl_server_credentials([pair], root_certificates=authority, require_client_auth=True)

    def rest_context(self) -> ssl.SSLContext | None:
        """REST has a server certificate and asks for no client certificate."""
        if self.tls is None:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.tls.certificate, self.tls.key)
        return context

    def _require_token(self, context: Context) -> None:
        metadata = dict(context.invocation_metadata() or ())
        if "authorization" not in metadata:
            raise Failed(grpc.StatusCode.UNAUTHENTICATED, "invalid token")
        if str(metadata["authorization"]).removeprefix("Bearer ") not in self.known_tokens:
            raise Failed(grpc.StatusCode.UNKNOWN, "token not authenticated")


def _require_subject(context: Context) -> None:
    shown = next(iter(context.auth_context()["x509_pem_cert"]))
    subject = set(_subject_attributes(ssl.PEM_cert_to_DER_cert(shown.decode())))
    if _COMMON_NAME not in subject:
        raise Failed(grpc.StatusCode.UNAUTHENTICATED, "could not find user in peer certificate")
    if _ORGANISATION not in subject:
        raise Failed(grpc.StatusCode.UNAUTHENTICATED, "could not find group in peer certificate")


def _subject_attributes(certificate: bytes) -> Iterator[bytes]:
    """The object ids of the subject's attributes in a DER certificate."""
    _, signed = next(_elements(next(_elements(certificate))[1]))
    fields = [content for tag, content in _elements(signed) if tag != _VERSION]
    _serial, _algorithm, _issuer, _validity, subject, *_ = fields
    for _, relative_name in _elements(subject):
        for _, attribute in _elements(relative_name):
            yield next(content for tag, content in _elements(attribute) if tag == _OBJECT_ID)


def _elements(der: bytes) -> Iterator[tuple[int, bytes]]:
    position = 0
    while position < len(der):
        tag, length, start = der[position], der[position + 1], position + 2
        if length > 0x7F:  # noqa: PLR2004 - DER: the low bits then count the bytes of the length
            size = length & 0x7F
            length, start = int.from_bytes(der[start : start + size]), start + size
        yield tag, der[start : start + length]
        position = start + length
