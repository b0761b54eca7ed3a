"""An HTTP server that can be stopped at once, as a crash does: no request is finished and no connection stays open."""

import asyncio
import ssl

from aiohttp import web

from lab.loopback import HOST

# aiohttp waits this long for requests at its end; 0 would be for ever.
_AT_ONCE = 0.001


async def serve(application: web.Application, port: int, tls: ssl.SSLContext | None = None) -> web.AppRunner:
    """Listen on loopback until `stop`."""
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=_AT_ONCE, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, HOST, port, ssl_context=tls, reuse_address=True).start()
    return runner


async def stop(runner: web.AppRunner) -> None:
    """Connections are aborted, because a client may never answer the end of TLS."""
    for site in list(runner.sites):
        await site.stop()
    for connection in list(runner.server.connections if runner.server else ()):
        if connection.transport is not None:
            connection.transport.abort()
    await runner.cleanup()
    await asyncio.sleep(0)  # the aborted connections are closed in the loop's next turn
