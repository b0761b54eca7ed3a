"""Two writers of one source and one work: what each way of writing keeps of the other's manifests."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from maestro_cli.command_line import WrongCommandLine, parse
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


async def test_writers_that_apply_at_once_without_a_name_never_lose_each_others_manifests(
    cli: Cli, files: Files
) -> None:
    await start(cli, files)

    async def apply(manifest: dict[str, object]) -> int:
        return (await cli("apply", "-f", files.write(manifest), "--name", "w", *TO)).code

    assert sorted(await asyncio.gather(apply(NODEPOOL), apply(IDP))) == [0, Exit.CONFLICT]
    assert await names_in(cli) in (["nodepool", "shared"], ["idp", "shared"])


async def test_a_writer_without_a_name_is_refused_where_the_file_lacks_what_another_brought(
    cli: Cli, files: Files
) -> None:
    assert (await cli("apply", "-f", files.write(config_map("shared"), NODEPOOL), "--name", "w", *TO)).code == 0
    second = files.write(config_map("shared"), IDP)
    for dry in ((), ("--dry-run",)):
        refused = await cli("apply", "-f", second, "--name", "w", *TO, *dry)
        assert refused.code == Exit.CONFLICT
        assert all(part in refused.err for part in ("ConfigMap/default/nodepool", "--prune", "--keep-others"))
    compared = await cli("diff", "-f", second, "--name", "w", *TO)
    assert compared.code == Exit.DIFFERENT
    assert "apply would refuse" in compared.err
    assert await names_in(cli) == ["nodepool", "shared"]

    assert (await cli("apply", "-f", second, "--name", "w", *TO, "--keep-others")).code == 0
    assert await names_in(cli) == ["idp", "nodepool", "shared"]
    pruned = await cli("apply", "-f", files.write(config_map("shared")), "--name", "w", *TO, "--prune")
    assert pruned.code == Exit.CONFLICT, "the last apply did not bring all that the file lacks"
    assert await names_in(cli) == ["idp", "nodepool", "shared"]


async def test_one_who_writes_alone_removes_a_manifest_by_leaving_it_out_and_saying_prune(
    cli: Cli, files: Files
) -> None:
    await cli("apply", "-f", files.write(NODEPOOL, IDP), "--name", "w", *TO)
    less = files.write(NODEPOOL)
    compared = await cli("diff", "-f", less, "--name", "w", *TO, "--prune")
    assert (compared.code, compared.out.split(":")[0]) == (Exit.DIFFERENT, "- ConfigMap/default/idp")
    pruned = await cli("apply", "-f", less, "--name", "w", *TO, "--prune")
    assert (pruned.code, pruned.err) == (0, "removed from work w: ConfigMap/default/idp\n")
    assert await names_in(cli) == ["nodepool"]


async def test_a_name_in_the_environment_makes_leaving_out_enough(cli: Cli, files: Files) -> None:
    for manifests in ([NODEPOOL, IDP], [NODEPOOL]):
        applied = await cli("apply", "-f", files.write(*manifests), "--name", "w", *TO, MAESTRO_FIELD_MANAGER="me")
        assert applied.code == 0
    assert await names_in(cli) == ["nodepool"]


async def test_prune_keeps_what_a_named_writer_brought(cli: Cli, files: Files) -> None:
    await start(cli, files)
    await cli("apply", "-f", files.write(NODEPOOL), "--name", "w", *TO)
    assert (await cli("apply", "-f", files.write(IDP), "--name", "w", *TO, "--prune")).code == 0
    assert await names_in(cli) == ["idp", "shared"]


async def test_with_prune_a_writer_that_takes_a_name_takes_over_what_it_brought_without_one(
    cli: Cli, files: Files
) -> None:
    await cli("apply", "-f", files.write(config_map("shared"), NODEPOOL, IDP), "--name", "w", *TO)
    named = ("--name", "w", *TO, "--field-manager", "me")
    assert (await cli("apply", "-f", files.write(NODEPOOL, IDP), *named)).code == 0
    assert await names_in(cli) == ["idp", "nodepool", "shared"], "perhaps another writer's"
    assert (await cli("apply", "-f", files.write(NODEPOOL, IDP), *named, "--prune")).code == 0
    assert (await cli("apply", "-f", files.write(NODEPOOL), *named)).code == 0
    assert await names_in(cli) == ["nodepool"]


@pytest.mark.parametrize(
    "pair", [("--prune", "--replace"), ("--prune", "--keep-others"), ("--replace", "--keep-others")]
)
def test_only_one_of_the_ways_to_treat_what_the_file_lacks_is_taken(pair: tuple[str, str]) -> None:
    with pytest.raises(WrongCommandLine, match="not allowed with"):
        parse(["apply", "-f", "x.yaml", *TO, *pair])


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
