"""The files that the settings name: TLS for REST, and a check of those that gRPC opens later."""

import ssl
from collections.abc import Iterator
from pathlib import Path

from shared.errors import Misconfigured, Problem
from shared.maestro.config.settings import MaestroSettings
from shared.network.credential_files import TokenFile, read_file
from shared.network.tls import verifying

_ROLES = {"ca_file": "CA", "http_ca_file": "CA", "cert_file": "client certificate", "key_file": "client key"}


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


def check_files(settings: MaestroSettings) -> None:
    """Raise Misconfigured, with all problems, for files that REST or gRPC could not use."""
    problems = file_problems(settings)
    if problems:
        raise Misconfigured("the Maestro client cannot be set up", problems)


def file_problems(settings: MaestroSettings) -> list[Problem]:
    return [*_token_problems(settings), *([] if settings.insecure else _tls_problems(settings))]


def _token_problems(settings: MaestroSettings) -> list[Problem]:
    problems = []
    for member in ("token_file", "http_token_file"):
        file = getattr(settings, member)
        try:
            if file is not None:
                TokenFile(file)
        except Misconfigured as error:
            problems.append(Problem(settings.name_of(member), str(error)))
    return problems


def _tls_problems(settings: MaestroSettings) -> list[Problem]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    problems = list(_unreadable(settings))
    for member in ("ca_file", "http_ca_file"):
        file, name = getattr(settings, member), settings.name_of(member)
        if file is None or any(each.path == name for each in problems):
            continue
        try:
            context.load_verify_locations(file)
        except (OSError, ssl.SSLError) as error:
            problems.append(_unusable(name, "CA file", file, error))
    unreadable = {each.path for each in problems}
    pair = [settings.name_of(member) for member in ("cert_file", "key_file")]
    if settings.cert_file is not None and settings.key_file is not None and unreadable.isdisjoint(pair):
        try:
            context.load_cert_chain(settings.cert_file, settings.key_file, password="")
        except (OSError, ssl.SSLError) as error:
            what = f"client certificate {settings.cert_file} with the key"
            problems.append(_unusable(settings.name_of("cert_file"), what, settings.key_file, error))
    return problems


def _unreadable(settings: MaestroSettings) -> Iterator[Problem]:
    """Files that cannot be read at all; a pipe would block whoever opens it."""
    for member in ("ca_file", "http_ca_file", "cert_file", "key_file"):
        file = getattr(settings, member)
        try:
            if file is not None:
                read_file(file, _ROLES[member])
        except Misconfigured as error:
            yield Problem(settings.name_of(member), str(error))


def _unusable(name: str, what: str, file: Path, error: OSError) -> Problem:
    why = _why(error) if isinstance(error, ssl.SSLError) else error.strerror
    return Problem(name, f"the {what} {file} cannot be used: {why or error}")


def _why(error: ssl.SSLError) -> str:
    """OpenSSL names its own functions and lines."""
    if error.reason == "KEY_VALUES_MISMATCH":
        return "the key is not that of the certificate"
    return "it must be in PEM form, and a key without a password"
