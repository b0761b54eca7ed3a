"""Runs the console blocks of a page and compares what is printed with what the page shows."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

Block = tuple[str, str]
"""A language and the text of a fenced block."""


def blocks(page: str) -> list[Block]:
    return re.findall(r"^```(\w*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def run_console(block: str, folder: Path) -> None:
    """Asserts that each command prints what is below it; an ellipsis stands for anything, alone in a line for lines."""
    for command, output in _commands(block):
        printed = _run(command, folder)
        assert re.fullmatch(_pattern(output), printed), f"$ {command}\n{printed}"


def _commands(block: str) -> Iterator[Block]:
    for each in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, output = re.split(r"(?<!\\)\n", each, maxsplit=1)
        yield command, output


def _pattern(output: str) -> str:
    return re.escape(output).replace("…\\\n", r"(?:.*\n)*?").replace("…", ".*?")


def _run(command: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, shell=True, cwd=folder, env={"PATH": path}, capture_output=True, text=True, check=False, timeout=240
    )
    return done.stdout + done.stderr
