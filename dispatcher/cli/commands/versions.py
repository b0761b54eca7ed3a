"""`version`: which build this is."""

import argparse
import os

from dispatcher.cli.parsing import Commands
from dispatcher.cli.terminal import answer
from shared import __version__

COMMIT_VARIABLE, DATE_VARIABLE = "HYPERFLEET_BUILD_COMMIT", "HYPERFLEET_BUILD_DATE"
UNKNOWN = "unknown"


def add_to(commands: Commands) -> None:
    parser = commands.add_parser("version", help="print version, commit and date of this build")
    parser.set_defaults(run=_run)


def _run(_: argparse.Namespace) -> int:
    answer(f"Version:    {__version__}")
    answer(f"Commit:     {os.environ.get(COMMIT_VARIABLE) or UNKNOWN}")
    answer(f"Build Date: {os.environ.get(DATE_VARIABLE) or UNKNOWN}")
    return 0
