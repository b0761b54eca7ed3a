"""`diff`: what a task config would do to live objects, without doing it."""

import argparse
import asyncio
import json
import os
import sys
import time
from contextlib import AsyncExitStack, aclosing

from dispatcher.cli import configuring
from dispatcher.cli.terminal import UsageError, answer, print_error
from dispatcher.config.loading import Loaded
from dispatcher.diff.fleet import Summary, diff_fleet
from dispatcher.diff.json_form import object_json, summary_json
from dispatcher.diff.object_diff import ObjectDiff
from dispatcher.diff.objects import Choice, parse_selector, type_of
from dispatcher.diff.ports import open_reading_ports
from dispatcher.diff.showing import coloured, diff_lines, summary_lines
from shared import logs
from shared.errors import HyperFleetError, Invalid
from shared.standard_streams import wants_colour

_EPILOG = """\
Everything is read live and nothing is written: Kubernetes does dry runs, works of Maestro are compared here, and what
would go to the HyperFleet API is compared with what it has. Values of Secrets are not shown.
An object whose generation is current is left alone by a run, unless its resource has `drift: repair`: what the config
would make of it is shown as a change at its next generation.

examples:
  one cluster:               hyperfleet-adapter diff -c adapter-config.yaml -t task-config.yaml --id 01a1e1b5-…
  every cluster of a region: hyperfleet-adapter diff -c … -t … -l region=us-east-1
  the whole fleet, counted:  hyperfleet-adapter diff -c … -t … --all -o json | jq .summary

exit code: 0 nothing would change, 1 something would, 2 an object failed or the command was misused
"""
SAME, DIFFERENT, FAILED = 0, 1, 2
_PROGRESS_SECONDS = 5.0


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Compares a task config with the live objects it is for, and shows what it would change."
    parser.epilog = _EPILOG
    parser.usage = "%(prog)s -c FILE -t FILE (--id ID | --all | -l SELECTOR) [options]"
    configuring.add_files(parser)
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--id", metavar="ID", action="append", help="one object; several with several --id")
    chosen.add_argument("--all", action="store_true", help="every object")
    chosen.add_argument("-l", "--selector", metavar="SELECTOR", help="objects with these labels: key=value,key=value")
    parser.add_argument(
        "--type", metavar="PLURAL", help="clusters or nodepools; otherwise what the task config calls the API for"
    )
    parser.add_argument("-o", "--output", choices=["text", "json"], default="text", help="form of the answer")
    configuring.add_settings(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    loaded = configuring.load_configuration(arguments)
    logs.configure_from({"LOG_LEVEL": "error", "LOG_FORMAT": "text"}, component=loaded.adapter.name, version="")
    choice = _choice(arguments, loaded)
    summary, printed = Summary(), _PRINTERS[arguments.output]()
    try:
        asyncio.run(_diff(loaded, choice, summary, printed))
    except HyperFleetError as error:
        if summary.objects:
            printed.end(summary)
        raise UsageError(str(error)) from None
    printed.end(summary)
    if summary.failed:
        return FAILED
    return DIFFERENT if summary.different else SAME


def _choice(arguments: argparse.Namespace, loaded: Loaded) -> Choice:
    try:
        labels = parse_selector(arguments.selector) if arguments.selector is not None else None
    except Invalid as error:
        raise UsageError(f"--selector: {error}") from None
    return Choice(type_=arguments.type or type_of(loaded.adapter), ids=tuple(arguments.id or ()), labels=labels)


async def _diff(loaded: Loaded, choice: Choice, summary: Summary, printed: "_Text | _Json") -> None:
    progress = _Progress()
    async with AsyncExitStack() as stack:
        ports = await open_reading_ports(stack, loaded, dict(os.environ))
        diffs = await stack.enter_async_context(aclosing(diff_fleet(loaded.adapter, ports, choice, summary)))
        async for diff in diffs:
            printed.object(diff)
            progress.note(summary)


class _Progress:
    """A line on standard error now and then, for a fleet takes its time."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def note(self, summary: Summary) -> None:
        if time.monotonic() - self._last >= _PROGRESS_SECONDS:
            self._last = time.monotonic()
            counts = f"{summary.different} different, {summary.failed} failed"
            print_error(f"{summary.objects} of {summary.total} objects compared: {counts}")


class _Text:
    def __init__(self) -> None:
        self._paint = coloured if wants_colour(sys.stdout) else str

    def object(self, diff: ObjectDiff) -> None:
        for line in diff_lines(diff):
            answer(self._paint(line))

    def end(self, summary: Summary) -> None:
        for line in summary_lines(summary):
            answer(line)


class _Json:
    """One document, written while it grows."""

    def __init__(self) -> None:
        self._begun = False

    def object(self, diff: ObjectDiff) -> None:
        answer(f"{self._before()}{json.dumps(object_json(diff), ensure_ascii=False)}")

    def end(self, summary: Summary) -> None:
        opening = "" if self._begun else '{"objects": ['
        answer(f'{opening}], "summary": {json.dumps(summary_json(summary), ensure_ascii=False)}}}')

    def _before(self) -> str:
        before, self._begun = "," if self._begun else '{"objects": [', True
        return before


_PRINTERS: dict[str, type[_Text] | type[_Json]] = {"text": _Text, "json": _Json}
