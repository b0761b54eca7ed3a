"""The webhook's certificate: made here, kept in a Secret, renewed in time, and trusted by the API server.

While a certificate is exchanged, the API server trusts the old and the new one. Of the webhook's configuration, which
the chart installs, only the caBundle is written. Both are watched: whoever deletes the Secret gets a new certificate,
and a configuration that was installed anew gets its caBundle back.
"""

import asyncio
import base64
import contextlib
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from dpu_bridge.settings import WebhookSettings
from shared import logs, times
from shared.errors import AlreadyExists, Conflict, HyperFleetError, NotFound
from shared.kubernetes import KubernetesClient, Object, ObjectRef, PatchType, Watch, select_one, version_of

VALID = timedelta(days=365)
RENEW_BEFORE = timedelta(days=120)
SKEW = timedelta(minutes=5)
CHECK_SECONDS = 6 * 3600.0
RETRY_SECONDS = 30.0
CERTIFICATE, KEY, TRUST = "tls.crt", "tls.key", "ca.crt"
log = logs.get(__name__)


class WebhookCertificate:
    """Two files that kopf reads again when they change."""

    def __init__(self, client: KubernetesClient, namespace: str, place: WebhookSettings) -> None:
        self._client, self._place = client, place
        self._stored = ObjectRef(api_version="v1", kind="Secret", namespace=namespace, name=place.secret)
        self._configured = ObjectRef(
            api_version="admissionregistration.k8s.io/v1",
            kind="ValidatingWebhookConfiguration",
            name=place.configuration,
        )
        self._folder = tempfile.TemporaryDirectory(prefix="dpu-bridge-webhook-")
        self.certificate = Path(self._folder.name) / CERTIFICATE
        self.key = Path(self._folder.name) / KEY

    def close(self) -> None:
        self._folder.cleanup()

    async def prepare(self) -> None:
        """Make sure that there is a valid certificate, in the Secret, the files and the configuration."""
        data = await self._secret()
        for path, name in ((self.certificate, CERTIFICATE), (self.key, KEY)):
            content = base64.b64decode(data[name])
            if not path.exists() or path.read_bytes() != content:
                path.touch(mode=0o600)
                path.write_bytes(content)
        await self._trust(data[TRUST])

    async def keep(self) -> None:
        """Renew for as long as the operator runs."""
        changed = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for ref in (self._stored, self._configured):
                group.create_task(_note(changed, Watch(self._client, select_one(ref))))
            seconds = CHECK_SECONDS
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await changed.wait()
                changed.clear()
                seconds = CHECK_SECONDS if await self._is_prepared() else RETRY_SECONDS

    async def _is_prepared(self) -> bool:
        try:
            await self.prepare()
        except HyperFleetError as error:
            log.warning("the webhook's certificate cannot be renewed", error=str(error))
            return False
        return True

    async def _secret(self) -> dict[str, str]:
        try:
            stored = await self._client.get(self._stored)
        except NotFound:
            stored = None
        data: dict[str, str] = (stored or {}).get("data") or {}
        if is_usable(data, self._place.names, times.now()):
            return data
        made = new_certificate(self._place.names, times.now(), trusted=data.get(CERTIFICATE) or self._served())
        metadata = {"name": self._stored.name, "namespace": self._stored.namespace}
        secret: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": made}
        try:
            if stored is None:
                await self._client.create(secret)
            else:
                metadata["resourceVersion"] = version_of(stored)
                await self._client.replace(secret)
        except (AlreadyExists, Conflict):
            return await self._secret()
        log.info("the webhook has a new certificate", secret=str(self._stored))
        return made

    def _served(self) -> str:
        return base64.b64encode(self.certificate.read_bytes()).decode() if self.certificate.exists() else ""

    async def _trust(self, bundle: str) -> None:
        try:
            configuration = await self._client.get(self._configured)
        except NotFound:
            missing = self._configured.name
            log.warning("the webhook is not configured", configuration=missing, remedy="install it with the chart")
            return
        patches = [
            {"op": "add", "path": f"/webhooks/{index}/clientConfig/caBundle", "value": bundle}
            for index, webhook in enumerate(configuration.get("webhooks") or ())
            if webhook["clientConfig"].get("caBundle") != bundle
        ]
        if patches:
            await self._client.patch(self._configured, patches, type_=PatchType.JSON)


async def _note(changed: asyncio.Event, watch: Watch) -> None:
    async for _ in watch.events():
        changed.set()


def is_usable(data: dict[str, str], names: tuple[str, ...], now: datetime) -> bool:
    """Whether a Secret has a certificate for these names that need not be renewed yet."""
    try:
        certificate = x509.load_pem_x509_certificate(base64.b64decode(data[CERTIFICATE], validate=True))
        alternative = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (KeyError, ValueError, x509.ExtensionNotFound):
        return False
    served = set(alternative.get_values_for_type(x509.DNSName))
    return {KEY, TRUST} <= data.keys() and set(names) <= served and certificate.not_valid_after_utc - now > RENEW_BEFORE


def new_certificate(names: tuple[str, ...], now: datetime, *, trusted: str) -> dict[str, str]:
    """The data of the Secret. `trusted` is the certificate before, which stays trusted until the next renewal."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + VALID)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(identifier, critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(each) for each in names]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    contents = {CERTIFICATE: pem, KEY: secret, TRUST: pem + _readable(trusted)}
    return {name: base64.b64encode(content).decode() for name, content in contents.items()}


def _readable(trusted: str) -> bytes:
    try:
        pem = base64.b64decode(trusted, validate=True)
        x509.load_pem_x509_certificate(pem)
    except ValueError:
        return b""
    return pem
