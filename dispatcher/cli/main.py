"""`hyperfleet-adapter`: which command runs, and how it ends.

The exit code is 0 when it worked, 1 when the work failed, and 2 when the command was misused or what it was given is
refused. A mistake of the user is never a traceback.
"""

import argparse
import sys
from collections.abc import Sequence

from dispatcher.cli import completion, evaluating
from dispatcher.cli.terminal import Misuse, abandon, complain, prepare

PROGRAM = "hyperfleet-adapter"
MISUSED = 2
INTERRUPTED = 130


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Runs HyperFleet adapters and helps to write them.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    evaluating.add_to(commands)
    completion.add_to(commands, parser)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    prepare()
    chosen = build_parser().parse_args(arguments)
    try:
        code: int = chosen.run(chosen)
        sys.stdout.flush()
    except Misuse as misuse:
        complain(f"{PROGRAM}: {misuse}")
        return MISUSED
    except BrokenPipeError:
        abandon()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    return code
