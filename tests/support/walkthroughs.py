"""Follows a page as a newcomer does: servers in terminals of their own, commands in order, and what they print.

A block ```` ```sh server ```` is started and left running, ```` ```sh ```` is run, and each line of the ```` ```text ````
after it must have been printed.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.loopback import ReservedPort

_BLOCK = re.compile(r"^```(?P<kind>sh server|sh|text)\n(?P<content>.*?)^```$", re.MULTILINE | re.DOTALL)
_END = "__end of block__"
_UP = re.compile(r"\bis up\b|^up: |\bserving\b")


@dataclass(frozen=True, slots=True)
class Block:
    kind: str
    content: str


def blocks(page: str, folder: Path, ports: Mapping[str, ReservedPort]) -> Iterator[Block]:
    """The page's blocks, with free ports for its own and the test's folder for /tmp."""
    for port, free in ports.items():
        page = page.replace(port, str(free.number))
    for found in _BLOCK.finditer(page):
        yield Block(found["kind"], found["content"].replace("/tmp/", f"{folder}/"))


def follow(page: str, *, cwd: Path, folder: Path, ports: Sequence[str], programs: Sequence[Path] = ()) -> None:
    """`programs` are folders for the PATH besides that of this Python."""
    path = ":".join([*map(str, (Path(sys.executable).parent, *programs)), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "HOME": str(folder)}
    printed = ""
    with ExitStack() as stack:
        free = {each: ReservedPort() for each in ports}
        for each in free.values():
            stack.callback(each.release)
        shell = stack.enter_context(terminal(environment, cwd))
        for block in blocks(page, folder, free):
            match block.kind:
                case "sh server":
                    serve(stack, environment, cwd, block.content.strip())
                case "sh":
                    printed = run(shell, block.content)
                case _:
                    for line in block.content.splitlines():
                        assert line in printed, f"the page says {line!r}; printed was:\n{printed}"


@contextmanager
def terminal(environment: dict[str, str], cwd: Path) -> Iterator["subprocess.Popen[str]"]:
    """A shell that ends with its first failing command."""
    with subprocess.Popen(
        ["bash", "-euo", "pipefail"],
        cwd=cwd,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as shell:
        try:
            yield shell
        finally:
            shell.terminate()


def run(shell: "subprocess.Popen[str]", commands: str) -> str:
    assert shell.stdin is not None
    assert shell.stdout is not None
    shell.stdin.write(f"{commands}\necho; echo {_END}\n")
    shell.stdin.flush()
    printed: list[str] = []
    for line in shell.stdout:
        if line.strip() == _END:
            return "".join(printed)
        printed.append(line)
    raise AssertionError(f"a command failed:\n{commands}\n{''.join(printed)}")


def serve(stack: ExitStack, environment: dict[str, str], cwd: Path, commands: str) -> None:
    """Start a server by the last of the commands in a terminal of its own, and return when it is up."""
    shell = stack.enter_context(terminal(environment, cwd))
    assert shell.stdin is not None
    assert shell.stdout is not None
    *before, last = commands.splitlines()
    shell.stdin.write("\n".join([*before, f"exec {last}\n"]))
    shell.stdin.flush()
    seen = ""
    for line in shell.stdout:
        seen += line
        if _UP.search(line):
            return
    raise AssertionError(f"the server ended:\n{commands}\n{seen}")
