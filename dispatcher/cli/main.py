"""`hyperfleet-adapter`: which command runs, and how it ends.

The exit code is 0 when it worked, 1 when the work failed, and 2 when the command was misused or what it was given is
refused. A mistake of the user is never a traceback.
"""

import argparse
from collections.abc import Sequence

from dispatcher.cli.commands import completion, evaluating, versions
from dispatcher.cli.parsing import CommandParser
from dispatcher.cli.terminal import UsageError, print_error
from shared import __version__
from shared.command_line import ArgumentParser
from shared.early_stop import end_at_sigterm
from shared.standard_streams import run_command

PROGRAM = "hyperfleet-adapter"
MISUSED = 2
_LOADED_WHEN_CHOSEN = {
    "serve": ("serving", "run an adapter, or rehearse it with --dry-run-event"),
    "validate": ("validating", "check a configuration without running it"),
    "config-dump": ("config_dump", "print the merged configuration without its secrets"),
    "rbac": ("rbac", "print the Kubernetes rights that a task config needs"),
    "init": ("initializing", "write a new adapter's folder"),
    "schema": ("schema", "print the JSON Schema of a configuration file"),
    "render": ("rendering", "print the manifests and payloads that an event leads to"),
    "diff": ("diffing", "compare a task config with live objects, and write nothing"),
    "test": ("testing", "rehearse a folder of test cases and compare the traces"),
}


def build_parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(prog=PROGRAM, description="Runs HyperFleet adapters and helps to write them.")
    parser.add_argument(
        "--version", action="version", version=f"%(prog)s {__version__}", help="print the version and exit"
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=CommandParser)
    for name, (module, summary) in _LOADED_WHEN_CHOSEN.items():
        commands.add_parser(name, help=summary, module=f"dispatcher.cli.commands.{module}")
    evaluating.add_to(commands)
    completion.add_to(commands, parser)
    versions.add_to(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    end_at_sigterm()  # a command's own modules, which take their time, are loaded after it
    return run_command(PROGRAM, lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    chosen = build_parser().parse_args(arguments)
    try:
        return int(chosen.run(chosen))
    except UsageError as misuse:
        print_error(f"{PROGRAM}: {misuse}")
        return MISUSED
