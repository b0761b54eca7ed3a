"""Certificates for the TLS modes: server, client, a client without a group, and a client of another authority."""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True, slots=True)
class Pair:
    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Pki:
    authority: Path
    server: Pair
    client: Pair
    client_without_group: Pair
    other_authority: Path
    untrusted: Pair


class _Authority:
    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = self._builder(self._name, self._key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        certificate = builder.sign(self._key, hashes.SHA256())
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, group: str | None) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        attributes = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
        if group:
            attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
        names = x509.SubjectAlternativeName(
            [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        )
        builder = self._builder(x509.Name(attributes), key.public_key()).add_extension(names, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        pair = Pair(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        pair.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return pair

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(minutes=5))
            .not_valid_after(now + timedelta(days=1))
        )


def make_pki(folder: Path) -> Pki:
    ours, theirs = _Authority(folder, "authority"), _Authority(folder, "other-authority")
    return Pki(
        authority=ours.file,
        server=ours.issue("server", "servers"),
        client=ours.issue("good-user", "adapters"),
        client_without_group=ours.issue("lonely-user", None),
        other_authority=theirs.file,
        untrusted=theirs.issue("untrusted", "adapters"),
    )
