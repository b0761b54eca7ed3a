"""`schema`: the JSON Schema of a configuration file, for editors and pipelines."""

import argparse
import json

from dispatcher.cli.terminal import answer
from dispatcher.config.showing.schemas import MODELS, schema

_EPILOG = """\
example:
  hyperfleet-adapter schema task > task-config.schema.json
  and as the first line of the task config, for editors with the YAML language server:
    # yaml-language-server: $schema=task-config.schema.json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("kind", choices=list(MODELS), help="which file")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    answer(json.dumps(schema(arguments.kind), indent=2, ensure_ascii=False))
    return 0
