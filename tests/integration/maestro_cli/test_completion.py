"""Completion in the real shells: commands, options, files, and the consumers and works that Maestro has."""

import asyncio
import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from maestro_cli.command_line import PROGRAM
from maestro_cli.commands import candidates
from shared.maestro import MaestroClient
from shared.model.manifestwork import ManifestWork
from tests.support.maestro_cli import CONSUMER, Cli, config_map

# Each completes the words it is given, the last of them to the cursor, and prints what it offers.
_BASH = """
source script
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_maestro_cli
printf '%s\\n' "${COMPREPLY[@]}"
"""
# The line editor is played: it sets the words and takes what is offered.
_ZSH = """
compdef() { : }
compadd() { shift; print -l -- "$@" }
_files() { print -l -- w* }
source script
words=("$@") CURRENT=$#
_maestro_cli
"""
_FISH = """
source script
complete --do-complete "$argv"
"""
# A person waits for three seconds at most; a busy machine may need more.
_PATIENT = """
import sys
from maestro_cli.__main__ import main
from maestro_cli.commands import candidates
candidates._TIMEOUT = 240.0
sys.exit(main())
"""
SHELLS = {
    "bash": ("bash", "--norc", "-c", _BASH, "bash"),
    "zsh": ("zsh", "-f", "-c", _ZSH, "zsh"),
    "fish": ("fish", "--no-config", "-c", _FISH),
}


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name} here")
    return name


@pytest.fixture
async def completed(shell: str, cli: Cli, client: MaestroClient, tmp_path: Path) -> "Completed":
    for name in ("web", "worker", "zero"):
        await client.works(CONSUMER).create(ManifestWork(name=name, consumer=CONSUMER, manifests=(config_map(),)))
    (tmp_path / "script").write_text((await cli("completion", shell)).out)
    program = tmp_path / PROGRAM
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(_PATIENT)} "$@"\n')
    program.chmod(0o755)
    return Completed(shell, {**cli.environment, "HOME": str(tmp_path)}, tmp_path)


class Completed:
    """What a shell offers for a line; its cursor is at the end."""

    def __init__(self, shell: str, environment: dict[str, str], folder: Path) -> None:
        self._shell, self._folder = shell, folder
        path = f"{folder}{os.pathsep}{os.environ['PATH']}"
        self._environment = {**os.environ, **environment, "PATH": path, "PYTHONPATH": str(Path(__file__).parents[3])}

    async def __call__(self, line: str) -> set[str]:
        words = [line] if self._shell == "fish" else line.split(" ")
        process = await asyncio.create_subprocess_exec(
            *SHELLS[self._shell], *words, cwd=self._folder, env=self._environment, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
        return {each.split("\t")[0] for each in output.decode().split("\n") if each}


async def test_names_that_maestro_knows_and_files_are_offered(completed: "Completed", tmp_path: Path) -> None:
    (tmp_path / "work.yaml").touch()
    assert await completed(f"{PROGRAM} get -c {CONSUMER} w") == {"web", "worker"}
    assert {each.removeprefix("--consumer=") for each in await completed(f"{PROGRAM} get --consumer=m")} == {CONSUMER}
    assert await completed(f"{PROGRAM} apply -f wo") == {"work.yaml"}


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        pytest.param(["de"], ["delete", "describe"], id="commands"),
        pytest.param(["--source-id", "s", "get", "--con"], ["--config", "--consumer", "--context"], id="options"),
        pytest.param(["apply", "--dr"], ["--drop-executor", "--dry-run"], id="options of the command only"),
        pytest.param(["list", "-o", "js"], ["json", "jsonpath="], id="forms"),
        pytest.param(["get", "-c", "m"], [CONSUMER], id="consumers"),
        pytest.param(["get", "--consumer", "=", "m"], [CONSUMER], id="a word that bash took apart"),
        pytest.param(["get", "--consumer", "="], [CONSUMER], id="nothing behind the sign yet"),
        pytest.param(["wait", f"--consumer={CONSUMER}", "--for", "Applied", "z"], ["zero"], id="works"),
        pytest.param(["consumer", "label", ""], [CONSUMER], id="a consumer as an argument"),
        pytest.param(["consumer", "l"], ["list", "label"], id="verbs"),
        pytest.param(["config", "use-context", ""], ["lab"], id="contexts"),
        pytest.param(["--results-format", ""], ["report", "go"], id="choices"),
        pytest.param(["apply", "--results-path", ""], [":files"], id="files, which the shell knows"),
        pytest.param(["get", "w"], [], id="works of no consumer"),
        pytest.param(["get", "--http-endpoint", "127.0.0.1:1", "-c", ""], [], id="a Maestro that is not there"),
        pytest.param(["get", "--context", "nope", "-c", ""], [], id="a mistake before the cursor"),
        pytest.param([], ["apply"], id="no word at all"),
    ],
)
async def test_what_may_follow_is_offered(
    cli: Cli, client: MaestroClient, monkeypatch: pytest.MonkeyPatch, words: list[str], offered: list[str]
) -> None:
    monkeypatch.setattr(candidates, "_TIMEOUT", 240.0)
    await client.works(CONSUMER).create(ManifestWork(name="zero", consumer=CONSUMER, manifests=(config_map(),)))
    await cli("config", "set-context", "lab", "--source-id", "s")
    printed = await cli("complete", "--", *words)
    assert (printed.code, printed.out.splitlines()[: len(offered) or None]) == (0, offered)
