"""An HTTP server that can be stopped at once, as a crash does: no request is finished and no connection stays open."""

import asyncio
import socket
import ssl

from aiohttp import web

from lab.loopback import HOST

# aiohttp waits this long for requests at its end; 0 would be for ever.
_AT_ONCE = 0.001
# A connection that asyncio has accepted reaches aiohttp in a later turn of the loop: it is made, then announced.
_TURNS_UNTIL_KNOWN = 3


class Runner(web.AppRunner):
    """Knows the socket that it listens on, to stop accepting before it is closed."""

    def __init__(self, application: web.Application, listening: socket.socket) -> None:
        super().__init__(application, handler_cancellation=True, shutdown_timeout=_AT_ONCE, access_log=None)
        self.listening = listening


async def serve(application: web.Application, port: int, tls: ssl.SSLContext | None = None) -> Runner:
    """Listen on loopback until `stop`."""
    runner = Runner(application, socket.create_server((HOST, port)))
    await runner.setup()
    await web.SockSite(runner, runner.listening, ssl_context=tls).start()
    return runner


async def stop(runner: Runner) -> None:
    """Connections are aborted, because a client may never answer the end of TLS."""
    await _stop_accepting(runner.listening)
    for site in list(runner.sites):
        await site.stop()
    for connection in list(runner.server.connections if runner.server else ()):
        if connection.transport is not None:
            connection.transport.abort()
    await runner.cleanup()
    await asyncio.sleep(0)  # the aborted connections are closed in the loop's next turn


async def _stop_accepting(listening: socket.socket) -> None:
    """Asyncio forgets a connection that it accepted just before its server is closed, and never closes it."""
    asyncio.get_running_loop().remove_reader(listening)
    for _ in range(_TURNS_UNTIL_KNOWN):
        await asyncio.sleep(0)
