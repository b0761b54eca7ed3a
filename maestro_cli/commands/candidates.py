"""`complete`: what may stand at the end of a command line, for the scripts of `completion`.

It says nothing, rather than failing, where Maestro does not answer at once.
"""

import argparse
import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from maestro_cli.command_line import build_parser
from maestro_cli.commands.session import Session
from maestro_cli.connection.settings import config_file
from maestro_cli.output.printing import TEXT_FORMS, print_answer
from shared.errors import HyperFleetError

# The answer where the shell itself knows best.
FILES: Final = ":files"
_TIMEOUT: Final = 3.0
_OF_FILES: Final = frozenset({"files", "config", "results_path", "output_file"})
_OF_WORKS: Final = frozenset({"get", "describe", "delete", "wait", "watch", "build"})


async def run(session: Session) -> None:
    line = Line.read(session.arguments.words)
    asking = replace(session, arguments=argparse.Namespace(**line.given, timeout=f"{_TIMEOUT}s"))
    found: list[str] = []
    with contextlib.suppress(HyperFleetError, TimeoutError):
        async with asyncio.timeout(_TIMEOUT):
            found = await _candidates(asking, line)
    for each in found:
        if each == FILES or each.startswith(line.word):
            print_answer(each if each == FILES else f"{line.before}{each}")


@dataclass(slots=True)
class Line:
    """A command line up to the cursor. `word` is to be completed, the value of `option` where that awaits one.

    `before` is what `word` is written behind without a space, such as `--consumer=`.
    """

    word: str
    before: str = ""
    commands: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    given: dict[str, str] = field(default_factory=dict)
    option: argparse.Action | None = None
    parser: argparse.ArgumentParser = field(default_factory=build_parser)

    @classmethod
    def read(cls, words: Sequence[str]) -> "Line":
        *former, last = _with_values(words) or [""]
        line = cls(word=last)
        for each in former:
            line._take(each)
        name, equals, value = last.partition("=")
        if line.option is None and equals and (option := line.options.get(name)):
            line.option, line.word, line.before = option, value, f"{name}="
        return line

    @property
    def options(self) -> dict[str, argparse.Action]:
        return {name: action for action in self.parser._actions for name in action.option_strings}  # noqa: SLF001

    @property
    def choices(self) -> dict[str, argparse.ArgumentParser]:
        """The commands that may come next."""
        found = (each.choices for each in self.parser._actions if not each.option_strings)  # noqa: SLF001
        return next((dict(each) for each in found if isinstance(each, dict)), {})

    def _take(self, word: str) -> None:
        name, equals, value = word.partition("=")
        action = self.options.get(name)
        if self.option is not None:
            self.given[self.option.dest] = word
            self.option = None
        elif action is not None and equals:
            self.given[action.dest] = value
        elif action is not None:
            self.option = action if action.nargs is None else None
            self.given |= {} if self.option else {action.dest: "true"}
        elif word in self.choices:
            self.commands.append(word)
            self.parser = self.choices[word]
        else:
            self.arguments.append(word)


def _with_values(words: Sequence[str]) -> list[str]:
    """Bash parts `--option=value` into three words: the sign is left out."""
    parted = [each for each in words if each != "="]
    return [*parted, ""] if words and words[-1] == "=" else parted


async def _candidates(session: Session, line: Line) -> list[str]:
    if line.option is not None:
        return await _values(session, line.option)
    if line.word.startswith("-"):
        return sorted(each for each in line.options if each.startswith("--") and not each.endswith("-is"))
    if line.choices:
        return list(line.choices)
    match line.commands:
        case [command] if command in _OF_WORKS and line.given.get("consumer"):
            return await _works(session, line.given["consumer"])
        case ["consumer", "get" | "delete" | "label"] if not line.arguments:
            return await _consumers(session)
        case ["config", *_]:
            return _contexts(session)
        case ["completion"]:
            return ["bash", "zsh", "fish"]
    return []


async def _values(session: Session, option: argparse.Action) -> list[str]:
    if option.choices:
        return [str(each) for each in option.choices]
    match option.dest:
        case "consumer":
            return await _consumers(session)
        case "context":
            return _contexts(session)
        case "output":
            return [*TEXT_FORMS, "jsonpath=", "go-template="]
        case name if name in _OF_FILES or name.endswith("_file"):
            return [FILES]
    return []


def _contexts(session: Session) -> list[str]:
    return sorted(config_file(session.arguments, session.environment).contexts)


async def _consumers(session: Session) -> list[str]:
    async with session.client() as client:
        return sorted(each.name for each in await client.consumers.list())


async def _works(session: Session, consumer: str) -> list[str]:
    async with session.client() as client:
        return sorted({work.name async for work in client.scan(consumer=consumer)})
