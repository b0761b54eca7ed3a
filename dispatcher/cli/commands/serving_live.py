"""`serve` on the events of a broker: log lines as configured, and an exit code when it ends."""

import argparse
import asyncio
import gc
import os
import sys

from dispatcher.cli import configuring
from dispatcher.cli.terminal import UsageError
from dispatcher.config.loading import Loaded
from dispatcher.config.models.adapter import LogConfig
from shared import __version__
from shared.command_line import port
from shared.errors import Misconfigured

_PORTS = {"--health-port": "HYPERFLEET_HEALTH_PORT", "--metrics-port": "HYPERFLEET_METRICS_PORT"}


def add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("live", "without --dry-run-event; see docs/operating-the-dispatcher.md")
    for option, variable in _PORTS.items():
        group.add_argument(
            option, dest=variable, type=port, metavar="PORT", help=f"instead of ${variable}; 0 for any free one"
        )


def run(arguments: argparse.Namespace) -> int:
    loaded = configuring.load_configuration(arguments, with_broker=True, strict=arguments.strict)
    ports = {name: getattr(arguments, name) for name in _PORTS.values()}
    given = {name: str(number) for name, number in ports.items() if number is not None}
    try:
        return _serve(loaded, {**os.environ, **given})
    except Misconfigured as error:
        raise UsageError(str(error)) from None


def _serve(loaded: Loaded, environment: dict[str, str]) -> int:
    from dispatcher.runtime.service import serve  # noqa: PLC0415 - half a second that a dry run does not need

    _configure_logs(loaded.config.log, loaded.adapter.name)
    # Code and configuration stay until the end: without them a full collection takes a fifth of the time.
    gc.collect()
    gc.freeze()
    return asyncio.run(serve(loaded, environment))


def _configure_logs(config: LogConfig, component: str) -> None:
    from shared import logs  # noqa: PLC0415 - as above

    level = config.level.lower() if config.level.lower() in logs.LEVELS else "info"
    stream = sys.stdout if config.output == "stdout" else sys.stderr
    logs.configure(component=component, version=__version__, level=level, format_=config.format, stream=stream)
