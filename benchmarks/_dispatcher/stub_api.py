"""A HyperFleet API that answers at once: every cluster exists at generation 1, every status is stored.

`python -m benchmarks._dispatcher.stub_api` prints its port. `GET /_seen` returns how many requests there were, and when
each cluster's last status arrived, on the clock that all processes of the machine share.
"""

import asyncio
import json
import time
from collections import Counter

from aiohttp import web

seen: Counter[str] = Counter()
statuses: dict[str, float] = {}
stored: dict[str, dict[str, object]] = {}


async def get_cluster(request: web.Request) -> web.Response:
    seen["GET"] += 1
    identifier = request.match_info["id"]
    document = {
        "id": identifier,
        "kind": "Cluster",
        "name": identifier,
        "href": f"/api/hyperfleet/v1/clusters/{identifier}",
        "generation": 1,
        "spec": {"region": "europe-west1"},
        "status": {"conditions": []},
    }
    return web.json_response(document)


async def get_statuses(request: web.Request) -> web.Response:
    seen["GET statuses"] += 1
    status = stored.get(request.match_info["id"])
    items = [status] if status else []
    return web.json_response({"items": items, "page": 1, "size": len(items), "total": len(items)})


async def put_status(request: web.Request) -> web.Response:
    body = await request.json()
    identifier = request.match_info["id"]
    seen["PUT"] += 1
    statuses[identifier] = time.monotonic()
    status = {**body, "last_report_time": body["observed_time"], "created_time": body["observed_time"]}
    stored[identifier] = status
    return web.json_response(status, status=201)


async def show_seen(_request: web.Request) -> web.Response:
    return web.json_response({"requests": seen, "statuses": statuses})


async def serve() -> None:
    application = web.Application()
    base = "/api/hyperfleet/v1/clusters/{id}"
    application.add_routes(
        [
            web.get("/_seen", show_seen),
            web.get(base, get_cluster),
            web.get(f"{base}/statuses", get_statuses),
            web.put(f"{base}/statuses", put_status),
        ]
    )
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(json.dumps({"port": runner.addresses[0][1]}), flush=True)
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(serve())
