"""The cluster's CA, and the certificates of its servers and clients."""

from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from lab.certificates import self_signed
from shared import times

_VALID = timedelta(days=30)
_SKEW = timedelta(minutes=5)
_KEY_BITS = 2048


@dataclass(frozen=True, slots=True)
class Pair:
    certificate: Path
    key: Path


class Authority:
    """The CA is created once; certificates are issued anew each time."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self.certificate, self._key_file = folder / "tls.crt", folder / "tls.key"
        if not self._key_file.exists():
            self_signed(folder)

    def issue(self, name: str, *, common_name: str, group: str = "", addresses: tuple[str, ...] = ()) -> Pair:
        """A certificate for a server at these addresses, or for a client of this name and group."""
        authority = x509.load_pem_x509_certificate(self.certificate.read_bytes())
        signer = serialization.load_pem_private_key(self._key_file.read_bytes(), password=None)
        assert isinstance(signer, rsa.RSAPrivateKey)
        key = rsa.generate_private_key(public_exponent=65537, key_size=_KEY_BITS)
        now = times.now()
        names = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
        if group:
            names.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
        usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name(names))
            .issuer_name(authority.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _SKEW)
            .not_valid_after(now + _VALID)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        )
        if addresses:
            builder = builder.add_extension(x509.SubjectAlternativeName(list(map(_named, addresses))), critical=False)
        pair = Pair(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        pair.certificate.write_bytes(builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        pair.key.touch(mode=0o600)
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
            )
        )
        return pair


def _named(address: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(address))
    except ValueError:
        return x509.DNSName(address)
