"""The walk-through of docs/maestro-cli.md, command by command, compared with what it shows."""

import re
import shlex
from pathlib import Path

import pytest

from lab.maestro.agent import Agent
from maestro_cli.exits import Exit
from tests.support.maestro_cli import Cli

PAGE = (Path(__file__).parents[3] / "docs" / "maestro-cli.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def steps() -> list[tuple[str, str]]:
    """Each command with the output that the page shows below it."""
    found = []
    for block in blocks("console"):
        for part in block.split("$ ")[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for block in blocks("yaml"):
        name = block.splitlines()[0].removeprefix("# ")
        (tmp_path / name).write_text(block)
    monkeypatch.chdir(tmp_path)


async def test_the_walk_through_shows_what_happens(cli: Cli, agent: Agent, folder: None) -> None:
    assert len(steps()) >= 9
    for command, shown in steps():
        printed = await cli(*shlex.split(command)[1:])
        pattern = re.escape(shown.strip()).replace("…", ".*?")
        # What a command prints to both streams a terminal shows together; progress is not on the page.
        answer = printed.out or printed.err
        assert re.fullmatch(pattern, answer.strip()), f"{command}\n{answer}"


def test_the_page_has_every_exit_code() -> None:
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)}
    assert listed == {int(code) for code in Exit}
