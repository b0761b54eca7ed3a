"""The calls of the measured adapter with no engine: `python -m benchmarks._dispatcher.probe ADDRESSES`.

It consumes the same messages, asks for the same objects, applies the same manifests and sends the same status, with
nothing around the calls: no configuration, no expressions, no retries, no metrics.
"""

import asyncio
import json
import ssl
import sys
from typing import Any

import aio_pika
import aiohttp
from aio_pika.abc import AbstractIncomingMessage

from benchmarks._dispatcher.adapters import NAME, config_map_of, namespace_of
from shared import times

_APPLY = {"Content-Type": "application/apply-patch+yaml"}
_NOT_FOUND = 404


class Probe:
    def __init__(self, addresses: dict[str, Any], http: aiohttp.ClientSession) -> None:
        self._api = f"http://127.0.0.1:{addresses['api_port']}/api/hyperfleet/v1/clusters"
        self._kubernetes = addresses["kubernetes"]
        self._token = {"Authorization": f"Bearer {addresses['token']}"}
        self._tls = ssl.create_default_context(cafile=addresses["ca_file"])
        self._http = http
        self._turns = asyncio.Semaphore(addresses["parallelism"])

    async def handle(self, message: AbstractIncomingMessage) -> None:
        async with self._turns:
            cluster = json.loads(message.body)["data"]["id"]
            async with self._http.get(f"{self._api}/{cluster}") as answer:
                found = await answer.json()
            paths = {
                f"/api/v1/namespaces/bench-{cluster}": namespace_of(cluster),
                f"/api/v1/namespaces/bench-{cluster}/configmaps/settings": config_map_of(cluster),
            }
            for path, manifest in paths.items():
                manifest["metadata"]["annotations"] = {"hyperfleet.io/generation": str(found["generation"])}
                await self._settle(path, manifest)
            await self._report(cluster, found["generation"])
            await message.ack()

    async def _settle(self, path: str, manifest: dict[str, Any]) -> None:
        url = f"{self._kubernetes}{path}"
        async with self._http.get(url, headers=self._token, ssl=self._tls) as answer:
            await answer.json()
            missing = answer.status == _NOT_FOUND
        if missing:
            query = {"fieldManager": NAME, "force": "true"}
            headers = {**self._token, **_APPLY}
            async with self._http.patch(url, json=manifest, params=query, headers=headers, ssl=self._tls) as answer:
                answer.raise_for_status()
                await answer.json()

    async def _report(self, cluster: str, generation: int) -> None:
        conditions = [
            {"type": each, "status": "True", "reason": "Measured", "message": ""}
            for each in ("Applied", "Available", "Health")
        ]
        body = {
            "adapter": NAME,
            "observed_generation": generation,
            "observed_time": times.to_micros(times.now()),
            "conditions": conditions,
        }
        async with self._http.put(f"{self._api}/{cluster}/statuses", json=body) as answer:
            answer.raise_for_status()
            await answer.json()


async def run(addresses: dict[str, Any]) -> None:
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=64)) as http,
        await aio_pika.connect(addresses["rabbitmq"]) as connection,
        connection.channel(publisher_confirms=False) as channel,
    ):
        await channel.set_qos(8 * addresses["parallelism"])
        queue = await channel.declare_queue(addresses["queue"], durable=True)
        await queue.consume(Probe(addresses, http).handle)
        print("consuming messages", file=sys.stderr, flush=True)
        await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(run(json.loads(sys.argv[1])))
