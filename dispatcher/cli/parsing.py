"""Commands that are loaded when they are chosen, or when their help is asked for: listing their options costs time.

The module of such a command has a function `configure(parser)`, which adds the options and the default `run`.
"""

import argparse
import importlib
from typing import TYPE_CHECKING, Any

from shared.command_line import ArgumentParser


class CommandParser(ArgumentParser):
    """`module` is what configures it; without one it is configured by who made it."""

    def __init__(self, *, module: str = "", **named: Any) -> None:
        super().__init__(**{"formatter_class": argparse.RawDescriptionHelpFormatter, **named})
        self._module = module

    def load(self) -> None:
        module, self._module = self._module, ""
        if module:
            importlib.import_module(module).configure(self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.load()
        chosen, left = super().parse_known_args(args, namespace)
        return chosen, self._take_late(chosen, left)

    def _take_late(self, chosen: argparse.Namespace, left: list[str]) -> list[str]:
        """Give what stands behind the options to an optional positional, which argparse only looks for before them."""
        for action in self._get_positional_actions():
            words = left[1:] if left[:1] == ["--"] else left
            is_late = words and (words is not left or not words[0].startswith("-"))
            if is_late and action.nargs == argparse.OPTIONAL and getattr(chosen, action.dest) is action.default:
                setattr(chosen, action.dest, words[0])
                left = words[1:]
        return left


if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[CommandParser]  # noqa: SLF001 - argparse has no public name for it
else:
    Commands = argparse._SubParsersAction  # noqa: SLF001 - which cannot be subscripted while it runs
