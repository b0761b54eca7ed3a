"""`validate`: everything that is wrong with a configuration, at once and with its place."""

import argparse
import os
from collections.abc import Sequence

from dispatcher.cli import configuring
from dispatcher.cli.terminal import answer
from dispatcher.config.findings import Finding, Severity
from dispatcher.config.loading import inspect
from dispatcher.config.showing.reports import REPORTS

_EPILOG = """\
examples:
  hyperfleet-adapter validate -c adapter-config.yaml -t task-config.yaml
  in a workflow of GitHub, shown beside the changed lines:
    hyperfleet-adapter validate -c adapter-config.yaml -t task-config.yaml -o github

exit code: 0 no errors (warnings are allowed), 1 errors, 2 a file cannot be read or the command was misused
"""
INVALID, UNREADABLE = 1, 2


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Checks structure, references, expressions, templates and names, and prints all that is wrong."
    parser.epilog = _EPILOG
    parser.usage = "%(prog)s -c FILE -t FILE [options]"
    configuring.add_files(parser)
    parser.add_argument("-o", "--output", choices=list(REPORTS), default="text", help="form of the answer")
    parser.add_argument("--skip-semantic", action="store_true", help="check structure and syntax only")
    parser.add_argument("--strict", action="store_true", help="count warnings as errors")
    configuring.add_settings(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    files = (configuring.adapter_file(arguments), configuring.task_file(arguments), configuring.broker_file(arguments))
    inspection = inspect(
        files[0],
        files[1],
        broker_file=files[2],
        environment=os.environ,
        flags=configuring.given_settings(arguments),
        semantic=not arguments.skip_semantic,
        needs_environment=False,
    )
    accepted = () if arguments.strict else (Severity.ADVICE,)
    errors = [finding for finding in inspection.findings if finding.severity not in accepted]
    warnings = [finding for finding in inspection.findings if finding.severity in accepted]
    answer(REPORTS[arguments.output](errors, warnings))
    return _exit_code(errors, {str(file) for file in files})


def _exit_code(errors: Sequence[Finding], files: set[str]) -> int:
    if any(finding.rule == "unreadable-file" and finding.place.file in files for finding in errors):
        return UNREADABLE
    return INVALID if errors else 0
