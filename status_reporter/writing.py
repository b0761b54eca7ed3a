"""`adapter-report`: the writer's side, for adapters that are shell scripts or anything else.

It writes the report atomically, so that the sidecar never reads half of it, and validates it first, so that its author
sees a mistake at once.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from shared import __version__, times
from shared.command_line import ArgumentParser
from shared.errors import HyperFleetError, InvalidReport, Problem
from shared.model.conditions import Condition
from shared.model.report import AdapterReport, schema
from shared.redaction import redact_text
from shared.standard_streams import run_command, write_line
from shared.untrusted_json import json_value
from status_reporter.settings import MAX_CONDITIONS, RESERVED_TYPES

PROGRAM = "adapter-report"
DEFAULT_PATH = "/results/adapter-report.json"
EXAMPLES = """\
examples:
  adapter-report write --condition Applied=True:Created:'the object is there' --condition Available=False:Waiting: \\
                       --data endpoint=api.example.com --data-json ports='[80, 443]'
  adapter-report validate /results/adapter-report.json
  adapter-report schema > adapter-report.schema.json

exit codes: 0 done, 1 the report is not valid or cannot be written, 2 wrong usage
"""


def main(arguments: Sequence[str] | None = None) -> int:
    return run_command(PROGRAM, lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    options = build_parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except HyperFleetError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{options.file}: {error.strerror or error}")


def _fail(problem: str) -> int:
    print(f"{PROGRAM}: {redact_text(problem)}", file=sys.stderr)
    return 1


def build_parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        prog=PROGRAM,
        description="Write and check the report that the status reporter puts on the adapter's Job.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    write = commands.add_parser("write", help="write a report, all of it or none of it")
    write.add_argument("--condition", action="append", required=True, metavar="TYPE=STATUS[:REASON[:MESSAGE]]")
    write.add_argument("--data", action="append", default=[], metavar="NAME=TEXT", help="a fact for the HyperFleet API")
    write.add_argument(
        "--data-json", action="append", default=[], metavar="NAME=JSON", help="the same, as any JSON value"
    )
    write.add_argument("--observed-generation", type=int, metavar="N", help="the cluster generation this is about")
    write.add_argument("--file", type=Path, default=_default_path(), help="where to write [%(default)s]")
    write.set_defaults(run=_write)
    validate = commands.add_parser("validate", help="check a report file and print its conditions")
    validate.add_argument("file", type=Path, nargs="?", default=_default_path())
    validate.set_defaults(run=_validate)
    show = commands.add_parser("schema", help="print the report's JSON Schema")
    show.set_defaults(run=_schema, file=None)
    return parser


def _default_path() -> Path:
    return Path(os.environ.get("RESULTS_OUTPUT_PATH") or os.environ.get("RESULTS_PATH") or DEFAULT_PATH)


def _write(options: argparse.Namespace) -> int:
    now = times.now()
    data = dict(_pair(text, "--data") for text in options.data)
    data |= {name: _json(text, name) for name, text in (_pair(each, "--data-json") for each in options.data_json)}
    document = {
        "conditions": [_condition(text, now) for text in options.condition],
        "data": data,
        "observedGeneration": options.observed_generation,
    }
    # Read as the sidecar will read it, so that nothing is written that it would refuse.
    report = AdapterReport.parse(json.dumps(document).encode())
    _refuse(report)
    report.write(options.file)
    return 0


def _refuse(report: AdapterReport) -> None:
    """Raise for what the sidecar does not put on a Job."""
    if len(report.conditions) > MAX_CONDITIONS:
        why = f"has {len(report.conditions)} entries; a Job takes at most {MAX_CONDITIONS}"
        raise InvalidReport("not a report", [Problem("conditions", why)])
    if reserved := [condition.type for condition in report.conditions if condition.type in RESERVED_TYPES]:
        why = "belongs to the Job controller, and the sidecar leaves it out; name a condition of your own"
        raise InvalidReport("not a report", [Problem(type_, why) for type_ in reserved])


def _condition(text: str, now: datetime) -> dict[str, Any]:
    type_, equals, rest = text.partition("=")
    status, _, rest = rest.partition(":")
    reason, _, message = rest.partition(":")
    if not equals:
        raise InvalidReport("not a condition", [Problem("--condition", f"{text!r} must be TYPE=STATUS:REASON:MESSAGE")])
    wire = {"type": type_, "status": status, "reason": reason, "message": message}
    return Condition.from_kubernetes(wire).since(None, now).to_kubernetes()


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise InvalidReport("not a fact", [Problem(option, f"{text!r} must be NAME=VALUE")])
    return name, value


def _json(text: str, name: str) -> Any:
    try:
        return json_value(text)
    except ValueError as error:
        raise InvalidReport("not JSON", [Problem(f"--data-json {name}", str(error))]) from error


def _validate(options: argparse.Namespace) -> int:
    report = AdapterReport.read(options.file)
    _refuse(report)
    for condition in report.conditions:
        write_line(f"{condition.type}={condition.status} {condition.reason}: {condition.message}".rstrip(": "))
    return 0


def _schema(_: argparse.Namespace) -> int:
    write_line(json.dumps(schema(), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
