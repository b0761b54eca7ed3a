"""The files and options of rehearsals, the same for `serve --dry-run-…` and `render`."""

import argparse
import asyncio
import os
from datetime import UTC, datetime
from typing import Any

from dispatcher.cli.configuring import load_configuration
from dispatcher.cli.documents import read_document
from dispatcher.cli.terminal import UsageError
from dispatcher.dryrun.reading import read_events, read_overrides, read_responses, read_secrets
from dispatcher.dryrun.rehearsing import Rehearsal, Script, rehearse
from shared import logs, times
from shared.errors import Misconfigured


def add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("dry run", "nothing is called: the API and the clusters are in these files")
    group.add_argument("--dry-run-event", metavar="FILE", help="a CloudEvent as JSON, or a list of them")
    group.add_argument("--dry-run-api-responses", metavar="FILE", help="answers of the HyperFleet API")
    group.add_argument("--dry-run-discovery", metavar="FILE", help="what servers fill in, by the name of the object")
    group.add_argument("--dry-run-secrets", metavar="FILE", help="values of Secrets and ConfigMaps; never shown")
    group.add_argument("--dry-run-now", metavar="TIME", help="the present time, unless an event has one: RFC 3339")
    group.add_argument("--dry-run-verbose", action="store_true", help="also show manifests and bodies")
    group.add_argument("--dry-run-output", metavar="FORMAT", help="text (default) or json")
    group.add_argument("--dry-run-exit-zero", action="store_true", help="exit with 0 though the run failed")


def is_wanted(arguments: argparse.Namespace) -> bool:
    """Whether there is any option of a dry run: who gives one must not run an adapter live."""
    return any(value not in (None, False) for name, value in vars(arguments).items() if name.startswith("dry_run_"))


def rehearse_from(arguments: argparse.Namespace) -> tuple[Rehearsal, ...]:
    if arguments.dry_run_event is None:
        raise UsageError("a dry run needs an event: give --dry-run-event FILE")
    loaded = load_configuration(arguments, strict=getattr(arguments, "strict", False))
    logs.configure_from({"LOG_LEVEL": "error", "LOG_FORMAT": "text"}, component=loaded.adapter.name, version="")
    return asyncio.run(rehearse(loaded.adapter, script_from(arguments)))


def script_from(arguments: argparse.Namespace) -> Script:
    return Script(
        events=_read(arguments.dry_run_event, read_events),
        now=_instant(arguments.dry_run_now),
        endpoints=_read(arguments.dry_run_api_responses, read_responses, default=()),
        overrides=_read(arguments.dry_run_discovery, read_overrides, default={}),
        secrets=_read(arguments.dry_run_secrets, read_secrets, default={}),
        environment=dict(os.environ),
    )


def _read(name: str | None, reader: Any, default: Any = None) -> Any:
    if name is None:
        return default
    try:
        return reader(read_document(name))
    except Misconfigured as error:
        raise UsageError(f"{name}: {error}") from None


def _instant(text: str | None) -> datetime:
    if text is None:
        return datetime.now(UTC).replace(microsecond=0)
    try:
        return times.parse(text)
    except ValueError as error:
        raise UsageError(f"--dry-run-now: {error}") from None
