"""`serve`: runs an adapter on the events of a broker, or rehearses it on events from a file."""

import argparse

from dispatcher.cli import configuring, rehearsing
from dispatcher.cli.commands import serving_dry, serving_live

_EXAMPLES = """\
examples:
  rehearse one event, with mocked answers of the API, and see what would be done:
    hyperfleet-adapter serve -c adapter-config.yaml -t task-config.yaml \\
      --dry-run-event event.json --dry-run-api-responses api-responses.json --dry-run-discovery discovery.json
  the same as JSON, with manifests and bodies:
    hyperfleet-adapter serve … --dry-run-verbose --dry-run-output json
  serve the events of a broker, until SIGTERM:
    hyperfleet-adapter serve -c adapter-config.yaml -t task-config.yaml --broker-config broker.yaml
  several events in one file (a JSON list) run in order against the same state:
    hyperfleet-adapter serve … --dry-run-event deletion.json

exit code of a dry run: 0 Result: SUCCESS, 1 Result: FAILED, 2 the command or its files are refused
exit code otherwise: 0 stopped by a signal (143 while loading), 1 it could not go on, 2 command or files are refused
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Runs an adapter. With --dry-run-event nothing is called: the trace shows what would be done."
    parser.epilog = _EXAMPLES
    parser.usage = "%(prog)s -c FILE -t FILE [options]"
    configuring.add_files(parser)
    parser.add_argument("--strict", action="store_true", help="refuse what `validate` calls a mistake")
    rehearsing.add_options(parser)
    serving_live.add_options(parser)
    configuring.add_settings(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    if rehearsing.is_wanted(arguments):
        return serving_dry.run(arguments)
    return serving_live.run(arguments)
