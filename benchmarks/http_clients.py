"""HTTP clients beside each other: one GET of a small JSON answer on loopback, and what it costs to start with each.

The Maestro client has a pool of its own; this says what that spares. CPU is that of the client's process alone: the
server is another one, which answers every request with the same bytes.
"""

import asyncio
import ssl
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import aiohttp
import httpcore
import httpx

from benchmarks.maestro import start_cost
from shared.maestro.http.pool import HttpPool

CALLS, ROUNDS, STARTS = 500, 7, 11
SERVER = """
import asyncio, contextlib
BODY = b'{"id": "019466a0", "version": 3, "items": [' + b'1,' * 400 + b'1]}'
ANSWER = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(BODY) + BODY
async def serve(reader, writer):
    with contextlib.suppress(asyncio.IncompleteReadError):
        while await reader.readuntil(b"\\r\\n\\r\\n"):
            writer.write(ANSWER)
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""

Get = Callable[[], Awaitable[bytes]]
Client = Callable[[str], AbstractAsyncContextManager[Get]]


@asynccontextmanager
async def _pool(url: str) -> AsyncIterator[Get]:
    pool = HttpPool(url, trust=ssl.create_default_context(), timeout=10.0)

    async def get() -> bytes:
        return (await pool.exchange("GET", "/x", {})).content

    yield get
    await pool.close()


@asynccontextmanager
async def _httpx(url: str) -> AsyncIterator[Get]:
    async with httpx.AsyncClient() as client:

        async def get() -> bytes:
            return (await client.get(f"{url}/x")).content

        yield get


@asynccontextmanager
async def _httpcore(url: str) -> AsyncIterator[Get]:
    async with httpcore.AsyncConnectionPool() as client:

        async def get() -> bytes:
            return (await client.request("GET", f"{url}/x")).content

        yield get


@asynccontextmanager
async def _aiohttp(url: str) -> AsyncIterator[Get]:
    async with aiohttp.ClientSession() as client:

        async def get() -> bytes:
            async with client.get(f"{url}/x") as answer:
                return await answer.read()

        yield get


CLIENTS: dict[str, tuple[Client, str]] = {
    "http_pool (ours, on h11)": (_pool, "import shared.maestro.http.pool"),
    "httpx": (_httpx, "import asyncio, httpx"),
    "httpcore": (_httpcore, "import asyncio, httpcore"),
    "aiohttp": (_aiohttp, "import aiohttp"),
}


def main() -> None:
    print(
        f"\nHTTP clients: CPU of one GET, median of {ROUNDS} x {CALLS}; CPU and memory of a start, median of {STARTS}\n"
    )
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        for label, (client, code) in CLIENTS.items():
            cpu = asyncio.run(_cpu_of_get(client, url))
            starts = [start_cost(code) for _ in range(STARTS)]
            start, memory = (statistics.median(values) for values in zip(*starts, strict=True))
            print(
                f"{label:<26} {cpu * 1000:6.2f} ms a GET  {start * 1000:5.0f} ms and {memory / 1024:4.1f} MiB to start"
            )
    finally:
        server.kill()
        server.communicate()


async def _cpu_of_get(client: Client, url: str) -> float:
    async with client(url) as get:
        await get()
        rounds = []
        for _ in range(ROUNDS):
            before = time.process_time()
            for _ in range(CALLS):
                await get()
            rounds.append((time.process_time() - before) / CALLS)
    return statistics.median(rounds)


if __name__ == "__main__":
    main()
