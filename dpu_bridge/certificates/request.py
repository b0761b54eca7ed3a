"""The parts of a CertificateSigningRequest that a decision needs. What is inside the PEM is checked in `decision`."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cryptography import x509
from cryptography.x509.oid import ExtensionOID, NameOID

PEM_TYPE = b"-----BEGIN CERTIFICATE REQUEST-----"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The content of the PEM request. `others` counts alternative names that are neither DNS names nor addresses."""

    common_name: str
    organizations: tuple[str, ...]
    more_attributes: bool = False
    dns_names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    others: int = 0
    signature_is_valid: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`subject` is None where the PEM cannot be read."""

    name: str
    signer: str
    username: str
    groups: frozenset[str]
    usages: frozenset[str]
    is_decided: bool
    subject: Subject | None


def request_of(document: Mapping[str, Any]) -> Request:
    spec, status = document.get("spec") or {}, document.get("status") or {}
    conditions = status.get("conditions") or ()
    return Request(
        name=str(document["metadata"]["name"]),
        signer=str(spec.get("signerName") or ""),
        username=str(spec.get("username") or ""),
        groups=frozenset(map(str, spec.get("groups") or ())),
        usages=frozenset(map(str, spec.get("usages") or ())),
        is_decided=bool(status.get("certificate"))
        or any(each["type"] in ("Approved", "Denied") for each in conditions),
        subject=subject_of(str(spec.get("request") or "")),
    )


def subject_of(encoded: str) -> Subject | None:
    """From base64 of PEM, as a CertificateSigningRequest carries it."""
    try:
        pem = base64.b64decode(encoded, validate=True)
        if not pem.strip().startswith(PEM_TYPE):
            return None
        request = x509.load_pem_x509_csr(pem)
        return _subject(request)
    except (ValueError, TypeError, binascii.Error, x509.DuplicateExtension, x509.UnsupportedGeneralNameType):
        return None


def _subject(request: x509.CertificateSigningRequest) -> Subject:
    names = [str(each.value) for each in request.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    organizations = [str(each.value) for each in request.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    alternative = _alternative_names(request)
    dns = [each.value for each in alternative if isinstance(each, x509.DNSName)]
    addresses = [str(each.value) for each in alternative if isinstance(each, x509.IPAddress)]
    return Subject(
        common_name=names[0] if len(names) == 1 else "",
        organizations=tuple(organizations),
        more_attributes=len(list(request.subject)) != len(names) + len(organizations),
        dns_names=tuple(dns),
        addresses=tuple(addresses),
        others=len(alternative) - len(dns) - len(addresses),
        signature_is_valid=request.is_signature_valid,
    )


def _alternative_names(request: x509.CertificateSigningRequest) -> list[x509.GeneralName]:
    try:
        extension = request.extensions.get_extension_for_oid(ExtensionOID.SUBJECT_ALTERNATIVE_NAME)
    except x509.ExtensionNotFound:
        return []
    value = extension.value
    return list(value) if isinstance(value, x509.SubjectAlternativeName) else []
