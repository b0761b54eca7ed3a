"""`config-dump`: the configuration that results from files, environment and flags, without its secrets."""

import argparse
import json

from dispatcher.cli import configuring
from dispatcher.cli.terminal import answer
from dispatcher.config.showing.dumping import as_yaml

_EPILOG = """\
example:
  HYPERFLEET_API_TIMEOUT=2s hyperfleet-adapter config-dump -c adapter-config.yaml -t task-config.yaml --log-level debug

exit code: 0 printed, 2 the configuration is refused or the command was misused
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Prints the merged configuration as it counts, with **REDACTED** in place of every secret."
    parser.epilog = _EPILOG
    parser.usage = "%(prog)s -c FILE -t FILE [options]"
    configuring.add_files(parser)
    parser.add_argument("-o", "--output", choices=["yaml", "json"], default="yaml", help="form of the answer")
    parser.add_argument("--strict", action="store_true", help="refuse what `validate` calls a mistake")
    configuring.add_settings(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    shown = configuring.load_configuration(arguments, strict=arguments.strict).adapter.redacted_config
    answer(as_yaml(shown) if arguments.output == "yaml" else json.dumps(shown, indent=2, ensure_ascii=False))
    return 0
