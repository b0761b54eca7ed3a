"""Two writers of one source and one work: what each way of writing keeps of the other's manifests."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from maestro_cli.commands.works import applying
from maestro_cli.commands.works.applying import stored_work
from maestro_cli.exits import Exit
from shared.maestro import MaestroClient
from shared.model.manifestwork import ManifestWork
from tests.support.maestro_cli import TO, Cli, Files, config_map

NODEPOOL, IDP = config_map("nodepool"), config_map("idp")


async def names_in(cli: Cli) -> list[str]:
    shown = json.loads((await cli("get", "w", *TO, "-o", "json")).out)
    return sorted(each["metadata"]["name"] for each in shown["manifests"])


async def start(cli: Cli, files: Files) -> None:
    """The document's beginning: a work with a namespace and a ConfigMap, which is written by somebody else."""
    await cli("apply", "-f", files.write(config_map("shared")), "--name", "w", *TO, "--field-manager", "landing-zone")


async def test_writers_that_build_at_once_never_lose_each_others_manifests(cli: Cli, files: Files) -> None:
    await start(cli, files)

    async def add(name: str) -> int:
        path = files.write({"manifests": [config_map(name)]})
        while (printed := await cli("build", "w", *TO, "--source-file", path, "--apply")).code == Exit.CONFLICT:
            pass
        return printed.code

    assert {*await asyncio.gather(add("a"), add("b"), add("c"))} == {0}
    assert await names_in(cli) == ["a", "b", "c", "shared"]


async def test_writers_that_apply_at_once_under_their_names_never_lose_each_others_manifests(
    cli: Cli, files: Files
) -> None:
    await start(cli, files)

    async def apply(manifest: dict[str, object], writer: str) -> int:
        return (await cli("apply", "-f", files.write(manifest), "--name", "w", *TO, "--field-manager", writer)).code

    assert {*await asyncio.gather(apply(NODEPOOL, "nodepool"), apply(IDP, "idp"))} == {0}
    assert await names_in(cli) == ["idp", "nodepool", "shared"]

    assert await apply(config_map("idp-2"), "idp") == 0
    assert await names_in(cli) == ["idp-2", "nodepool", "shared"], "each removes only what it brought itself"


async def test_with_replace_the_second_writer_removes_what_the_first_brought_as_the_document_shows(
    cli: Cli, files: Files
) -> None:
    await start(cli, files)
    for manifest in (NODEPOOL, IDP):
        path = files.write(config_map("shared"), manifest)
        assert (await cli("apply", "-f", path, "--name", "w", *TO, "--replace")).code == 0
    assert await names_in(cli) == ["idp", "shared"]


async def test_a_replacement_carries_the_version_that_was_read(
    cli: Cli, files: Files, client: MaestroClient, consumer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another writer changes between reading and sending is a conflict, and the work is read again."""
    await start(cli, files)
    works = client.works(consumer)
    read: list[int] = []

    async def read_and_be_overtaken(*arguments: Any, **options: Any) -> ManifestWork | None:
        found = await stored_work(*arguments, **options)
        assert found is not None
        if not read:
            await works.apply(replace(found, manifests=(*found.manifests, NODEPOOL)))
        read.append(found.generation)
        return found

    monkeypatch.setattr(applying, "stored_work", read_and_be_overtaken)
    path = files.write(config_map("shared"), IDP)
    assert (await cli("apply", "-f", path, "--name", "w", *TO, "--replace")).code == 0
    assert read == [read[0], read[0] + 1]
    assert await names_in(cli) == ["idp", "shared"]


async def test_manifests_that_no_writer_remembers_are_not_removed_unasked(cli: Cli, files: Files) -> None:
    await start(cli, files)
    theirs = files.write({"manifests": [config_map("shared"), config_map("theirs")]})
    await cli("build", "w", *TO, "--source-file", theirs, "--strategy", "replace", "--apply")
    for dry in ((), ("--dry-run",)):
        refused = await cli("apply", "-f", files.write(IDP), "--name", "w", *TO, "--field-manager", "idp", *dry)
        assert refused.code == Exit.CONFLICT
        assert "ConfigMap/default/theirs" in refused.err
    assert await names_in(cli) == ["shared", "theirs"]


async def test_a_writers_name_that_no_annotation_can_have_is_refused(cli: Cli, files: Files) -> None:
    refused = await cli("apply", "-f", files.write(IDP), "--name", "w", *TO, "--field-manager", "a b")
    assert refused.code == Exit.USAGE
    assert "--field-manager" in refused.err
