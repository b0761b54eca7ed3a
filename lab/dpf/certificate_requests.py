"""Certificate requests as kubelets write them, and variants that no kubelet writes."""

import base64
from collections.abc import Sequence
from functools import cache
from ipaddress import ip_address
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from dpu_bridge.certificates.decision import BOOTSTRAP_SIGNER, BOOTSTRAPPER, SERVING_SIGNER

Object = dict[str, Any]
BOOTSTRAP_GROUPS = (
    "system:serviceaccounts",
    "system:serviceaccounts:openshift-machine-config-operator",
    "system:authenticated",
)
SERVING_GROUPS = ("system:nodes", "system:authenticated")


@cache
def _key(kind: str) -> ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey:
    return (
        rsa.generate_private_key(public_exponent=65537, key_size=2048)
        if kind == "rsa"
        else ec.generate_private_key(ec.SECP256R1())
    )


def pem(
    common_name: str | Sequence[str],
    *,
    organizations: Sequence[str] = ("system:nodes",),
    dns: Sequence[str] = (),
    addresses: Sequence[str] = (),
    emails: Sequence[str] = (),
    country: str = "",
    key: str = "ec",
) -> bytes:
    names = [common_name] if isinstance(common_name, str) else common_name
    subject = [
        *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in organizations),
        *(x509.NameAttribute(NameOID.COMMON_NAME, each) for each in names),
        *([x509.NameAttribute(NameOID.COUNTRY_NAME, country)] if country else []),
    ]
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))
    alternative: list[x509.GeneralName] = [
        *(x509.DNSName(each) for each in dns),
        *(x509.IPAddress(ip_address(each)) for each in addresses),
        *(x509.RFC822Name(each) for each in emails),
    ]
    if alternative:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternative), critical=False)
    return builder.sign(_key(key), hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def bootstrap(hostname: str, **changes: Any) -> Object:
    """The first request of a kubelet, by the credentials that all DPUs share. Changes are members of the spec."""
    return _request(
        f"bootstrap-{hostname}",
        {
            "signerName": BOOTSTRAP_SIGNER,
            "username": BOOTSTRAPPER,
            "groups": list(BOOTSTRAP_GROUPS),
            "usages": ["digital signature", "client auth"],
            "request": pem(f"system:node:{hostname}"),
            **changes,
        },
    )


def serving(hostname: str, addresses: Sequence[str] = (), **changes: Any) -> Object:
    """The request for a serving certificate, by the node itself."""
    return _request(
        f"serving-{hostname}",
        {
            "signerName": SERVING_SIGNER,
            "username": f"system:node:{hostname}",
            "groups": list(SERVING_GROUPS),
            "usages": ["digital signature", "server auth"],
            "request": pem(f"system:node:{hostname}", dns=[hostname], addresses=addresses),
            **changes,
        },
    )


def _request(name: str, spec: Object) -> Object:
    content = spec["request"]
    encoded = base64.b64encode(content).decode() if isinstance(content, bytes) else content
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": name},
        "spec": {**spec, "request": encoded},
    }
