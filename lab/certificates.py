"""Self-signed certificates for servers on loopback; clients use the certificate itself as the CA file."""

from datetime import timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from lab.tls import Tls
from shared import times

_VALID = timedelta(days=30)
# A clock may be a little behind another.
_SKEW = timedelta(minutes=5)
_KEY_BITS = 2048


def self_signed(folder: Path) -> Tls:
    """Certificate and RSA key for 127.0.0.1 and localhost, as files in the folder."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=_KEY_BITS)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "lab")])
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(IPv4Address("127.0.0.1"))])
    now = times.now()
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + _VALID)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(identifier, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
        .add_extension(_usage(), critical=True)
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    tls = Tls(certificate=folder / "tls.crt", key=folder / "tls.key")
    tls.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    tls.key.touch(mode=0o600)
    tls.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
    return tls


def _usage() -> x509.KeyUsage:
    """Python 3.13 and newer accept a certificate as CA only if its key usage allows signing."""
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        key_encipherment=True,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
