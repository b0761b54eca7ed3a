"""The terminal interface, driven by keys as a person would, against the stand-in."""

import asyncio
import os
import re
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Static

from lab.maestro.agent import Agent
from maestro_cli.tui.app import MaestroApp
from maestro_cli.tui.dialogs import Ask, Confirm, Show
from shared.maestro import MaestroClient
from shared.model.manifestwork import ManifestWork
from tests.support.maestro_cli import CONSUMER, TO, Cli, Files, config_map, manifest_work

WITHIN = 240
PICTURE = Path(__file__).parents[3] / "docs" / "images" / "maestro-cli-tui.svg"


def work(name: str, **labels: str) -> ManifestWork:
    return ManifestWork(name=name, consumer=CONSUMER, manifests=(config_map(name),), labels=labels)


async def until(pilot: Pilot[None], reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(WITHIN):
        while not reached():
            await pilot.pause(0.05)


def names(app: MaestroApp) -> list[str]:
    return app.works_shown


def detail(app: MaestroApp) -> str:
    return str(app.query_one("#text", Static).render())


async def test_works_appear_change_and_go_while_one_looks(cli: Cli, client: MaestroClient, agent: Agent) -> None:
    works = client.works(CONSUMER)
    await works.create(work("first"))
    app = MaestroApp(client)
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: names(app) == ["first"])
        await until(pilot, lambda: "State:       Available" in detail(app))
        await works.create(work("second"))
        await until(pilot, lambda: names(app) == ["first", "second"])
        await works.delete("first")
        await until(pilot, lambda: names(app) == ["second"])


async def test_the_picture_in_the_docs_is_of_this_interface(cli: Cli, client: MaestroClient, agent: Agent) -> None:
    """With SCREENSHOT=1 it is taken anew; otherwise the page's picture must be there and show the same columns."""
    for name in ("hyperfleet-c1-namespace", "hyperfleet-c1-nodepool"):
        await client.works(CONSUMER).create(work(name, **{"hyperfleet.io/cluster-id": "c1"}))
    app = MaestroApp(client)
    async with app.run_test(size=(150, 30)) as pilot:
        await until(pilot, lambda: len(names(app)) == 2 and "Available" in detail(app))
        picture = app.export_screenshot(title="maestro-cli tui")
    if os.environ.get("SCREENSHOT"):
        # Without the fonts that it would fetch from elsewhere.
        PICTURE.write_text(re.sub(r"@font-face \{.*?\}\n", "", picture, flags=re.DOTALL))
    assert all(column in PICTURE.read_text() for column in ("CONSUMER", "NAME", "STATE", "VERSION"))


async def test_a_filter_leaves_what_matches(cli: Cli, client: MaestroClient) -> None:
    works = client.works(CONSUMER)
    for name, tier in (("alpha", "gold"), ("beta", "silver")):
        await works.create(work(name, tier=tier))
    app = MaestroApp(client, CONSUMER)
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: len(names(app)) == 2)
        await pilot.press("slash", *"tier=gold", "enter")
        await until(pilot, lambda: names(app) == ["alpha"])


async def test_a_search_goes_from_match_to_match_and_says_when_there_is_none(cli: Cli, client: MaestroClient) -> None:
    for name in ("alpha-one", "beta", "alpha-two"):
        await client.works(CONSUMER).create(work(name))
    app = MaestroApp(client, CONSUMER)
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: names(app) == ["alpha-one", "alpha-two", "beta"])
        await pilot.press("home")
        await until(pilot, lambda: app.chosen == "alpha-one")
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        await pilot.press(*"alpha", "enter")
        await until(pilot, lambda: app.chosen == "alpha-two")
        await pilot.press("n")
        await until(pilot, lambda: app.chosen == "alpha-one")
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        await pilot.press(*"gamma", "enter")
        await until(pilot, lambda: [each.message for each in app._notifications] == ["no work contains 'gamma'"])


async def test_a_file_is_compared_with_what_is_there_and_nothing_is_sent(
    cli: Cli, files: Files, client: MaestroClient
) -> None:
    path = files.write(config_map("fresh"))
    app = MaestroApp(client, CONSUMER)
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        await pilot.press(*path, "enter")
        await until(pilot, lambda: isinstance(app.screen, Show))
        shown = app.screen
        assert isinstance(shown, Show)
        assert shown.text == "the work is new"
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, Show))
    assert await client.works(CONSUMER).list() == []


async def test_yaml_and_deletion_with_a_question(cli: Cli, client: MaestroClient, agent: Agent) -> None:
    await client.works(CONSUMER).create(work("first"))
    app = MaestroApp(client)
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: names(app) == ["first"])
        await pilot.press("y")
        await until(pilot, lambda: "kind: ManifestWork" in detail(app))
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("n")
        await until(pilot, lambda: not isinstance(app.screen, Confirm))
        assert names(app) == ["first"]
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: names(app) == [])


async def test_a_file_is_applied_after_its_differences_were_shown(
    cli: Cli, files: Files, client: MaestroClient
) -> None:
    path = files.write(config_map("fresh"))
    app = MaestroApp(client)
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: app.sub_title == CONSUMER)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        await pilot.press(*path, "enter")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: names(app) == ["configmap-fresh"])


async def test_what_the_file_lacks_stays_and_is_shown_before_the_question(
    cli: Cli, files: Files, client: MaestroClient
) -> None:
    await cli("apply", "-f", files.write(config_map("fresh"), config_map("other")), "--name", "w", *TO)
    path = files.write(manifest_work("w", config_map("fresh", x="2")))
    app = MaestroApp(client, CONSUMER)
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        await pilot.press(*path, "enter")
        await until(pilot, lambda: isinstance(app.screen, Show))
        shown = app.screen
        assert isinstance(shown, Show)
        assert shown.text.splitlines()[0] == "ConfigMap/default/other stays, although the file lacks it"
        assert "- ConfigMap/default/other" not in shown.text


async def test_works_change_while_a_question_is_open(cli: Cli, client: MaestroClient, agent: Agent) -> None:
    await client.works(CONSUMER).create(work("second"))
    app = MaestroApp(client)
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: names(app) == ["second"])
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await client.works(CONSUMER).create(work("first"))
        await until(pilot, lambda: app.works_shown == ["first", "second"])
        await pilot.press("n")
        await until(pilot, lambda: not isinstance(app.screen, Confirm))
        assert app.chosen == "second"
