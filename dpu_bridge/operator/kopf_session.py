"""kopf's connections to the management cluster: none dies silently, and none outlives the operator."""

import ssl
from typing import Any, Self

import aiohttp
import kopf

from shared.kubernetes import Access, KubernetesClient
from shared.kubernetes.http.sockets import keepalive_socket
from shared.network.session_sockets import SessionSockets
from shared.network.tls import verifying


class KopfSession:
    """`login` is kopf's login handler. kopf calls it again when the server refuses the credentials."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client
        self._sockets = SessionSockets(keepalive_socket)
        self._sessions: list[aiohttp.ClientSession] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for session in self._sessions:
            await session.close()
        await self._sockets.close()

    async def login(self, **_: Any) -> kopf.AiohttpSession:
        access = await self._client.access()
        connector = aiohttp.TCPConnector(limit=0, ssl=_trust(access), socket_factory=self._sockets.create)
        headers = {"Authorization": access.authorization} if access.authorization else {}
        session = aiohttp.ClientSession(
            connector=connector, headers=headers, proxy=access.proxy or None, cookie_jar=aiohttp.DummyCookieJar()
        )
        self._sessions.append(session)
        return kopf.AiohttpSession(server=access.server, default_namespace=access.namespace, aiohttp_session=session)


def _trust(access: Access) -> ssl.SSLContext | bool:
    if not access.server.startswith("https:"):
        return True
    context = verifying(access.ca_file)
    if not access.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if access.cert_file is not None:
        context.load_cert_chain(access.cert_file, access.key_file)
    return context
