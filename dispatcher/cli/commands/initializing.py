"""`init`: a new adapter's folder that validates and passes its tests as it is."""

import argparse
import re
from pathlib import Path

from dispatcher.cli.terminal import UsageError, answer
from dispatcher.scaffold.writing import SUBJECTS, WORKS, NewAdapter, write
from shared.errors import HyperFleetError

_EPILOG = """\
examples:
  hyperfleet-adapter init landing-zone --for cluster --with manifest
  hyperfleet-adapter init node-labels --for nodepool --with manifestwork --folder adapters/node-labels

exit code: 0 written, 2 the name or the folder is refused
"""
_NAME = re.compile(r"[a-z]([-a-z0-9]{0,30}[a-z0-9])?")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Writes configs, a manifest, tests, chart values and a README for a new adapter."
    parser.epilog = _EPILOG
    parser.add_argument("name", metavar="NAME", help="name of the adapter, as the HyperFleet API will know it")
    parser.add_argument("--for", dest="subject", choices=SUBJECTS, default="cluster", help="what it reacts to")
    parser.add_argument("--with", dest="work", choices=WORKS, default="job", help="what it creates")
    parser.add_argument("--folder", metavar="FOLDER", help="where to write; otherwise ./NAME")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    if not _NAME.fullmatch(arguments.name):
        raise UsageError(
            f"{arguments.name!r} is no name of an adapter: use lower-case letters, digits and -, at most 32"
        )
    folder = Path(arguments.folder or arguments.name)
    try:
        written = write(NewAdapter(name=arguments.name, subject=arguments.subject, work=arguments.work), folder)
    except HyperFleetError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from error
    answer("\n".join(map(str, written)))
    answer(f"next: hyperfleet-adapter validate -c {folder}/adapter-config.yaml -t {folder}/task-config.yaml")
    return 0
