"""Above a page of Maestro's lists nothing is missed."""

import asyncio
import json

from maestro_cli.exits import Exit
from shared.maestro import MaestroClient
from shared.model.manifestwork import ManifestWork
from tests.support.maestro import unique
from tests.support.maestro_cli import CONSUMER, TO, Cli, Files, config_map

# Works and consumers; a page of Maestro's lists has 100.
SIZES = {"standin": (230, 120), "real": (3000, 500)}
AT_ONCE = 16


async def test_lists_names_and_updates_are_right_above_a_page(
    cli: Cli, files: Files, client: MaestroClient, consumer: str, servers: str
) -> None:
    works, consumers = SIZES[servers]
    await fill(client, consumer, works)
    prefix = unique("c")
    for number in range(consumers):
        await client.consumers.create(f"{prefix}-{number}")

    assert len((await cli("list", *TO, "-o", "name")).out.split()) == works
    listed = (await cli("consumer", "list", "-o", "name")).out.split()
    assert len([name for name in listed if name.startswith(prefix)]) == consumers
    last = f"w{works - 1}"
    assert json.loads((await cli("get", last, *TO, "-o", "json")).out)["name"] == last
    updated = await cli("apply", "-f", files.write(config_map(x="2")), "--name", last, *TO, "--replace")
    assert updated.out == f"work {last} on {CONSUMER} is updated\n"
    assert (await cli("get", "w", "-c", f"{prefix}-{consumers - 1}")).code == Exit.NOT_FOUND
    assert json.loads((await cli("status", "-o", "json")).out)["consumers"] > consumers


async def fill(client: MaestroClient, consumer: str, count: int) -> None:
    numbers = iter(range(count))

    async def create() -> None:
        for number in numbers:
            work = ManifestWork(name=f"w{number}", consumer=consumer, manifests=(config_map(),))
            await client.works(consumer).create(work)

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(create())
