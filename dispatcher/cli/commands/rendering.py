"""`render`: the manifests and payloads of a rehearsal, and nothing else, as YAML documents."""

import argparse
import json
from collections.abc import Iterator
from typing import Any

import yaml

from dispatcher.cli import configuring, rehearsing
from dispatcher.cli.terminal import answer, print_error
from dispatcher.dryrun.showing import Shown
from dispatcher.engine.runs import RunResult, Status

_EXAMPLES = """\
examples:
  hyperfleet-adapter render -c adapter-config.yaml -t task-config.yaml --dry-run-event event.json \\
    --dry-run-api-responses api-responses.json
  hyperfleet-adapter render … | kubectl apply --dry-run=server -f -

exit code: 0 rendered, 1 the run failed, 2 the command or its files are refused
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Rehearses an event and prints what it would apply and report, as YAML documents."
    parser.epilog = _EXAMPLES
    parser.usage = "%(prog)s -c FILE -t FILE --dry-run-event FILE [options]"
    configuring.add_files(parser)
    parser.add_argument("--only", choices=["manifests", "payloads"], help="leave the others out")
    rehearsing.add_options(parser)
    configuring.add_settings(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    rehearsals = rehearsing.rehearse_from(arguments)
    for rehearsal in rehearsals:
        shown = Shown(rehearsal.result.secrets)
        for title, document in _documents(rehearsal.result, arguments.only):
            text = yaml.safe_dump(shown.value(document), sort_keys=False, allow_unicode=True, width=1000)
            answer(f"---\n# {title}\n{text}".rstrip("\n"))
        for error in rehearsal.result.errors.values():
            print_error(f"hyperfleet-adapter: {error}")
    return 1 if any(each.result.status is Status.FAILED for each in rehearsals) else 0


def _documents(result: RunResult, only: str | None) -> Iterator[tuple[str, Any]]:
    if only != "payloads":
        yield from ((f"resource {each.name}", each.manifest) for each in result.resources if each.manifest)
    if only != "manifests":
        yield from ((f"payload {each.name}", json.loads(each.text)) for each in result.payloads if each.text)
