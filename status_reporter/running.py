"""Running the sidecar, and ending with an exit code and a termination message."""

import contextlib
import logging
import os
import signal
import sys
from pathlib import Path

from shared import __version__
from shared.environment import help_table
from shared.redaction import redact_message
from shared.standard_streams import run_command, write_line
from status_reporter import logging_setup, settings
from status_reporter.exits import Exit
from status_reporter.job.patching import cut
from status_reporter.reporting import Reporter
from status_reporter.settings import MisconfiguredReporter, Settings

MAX_TERMINATION_BYTES = 4000
USAGE = """\
status-reporter: puts an adapter's report on its Kubernetes Job. It runs as the second container of the Job's pod.

It takes no arguments. Settings are environment variables (defaults in brackets):
"""


def usage() -> str:
    codes = "".join(f"  {code.value}  {code.meaning}\n" for code in Exit)
    return f"{USAGE}{help_table(settings.SETTINGS)}\nExit codes:\n{codes}"


def run(stops: list[int]) -> int:
    """`stops` are the signals that came before the reporter existed."""
    if sys.argv[1:]:
        return run_command("status-reporter", _explain)
    try:
        chosen = settings.load(os.environ)
    except MisconfiguredReporter as error:
        return _end_misconfigured(error, stops)
    _log(chosen)
    return _end(chosen, *_reporter(chosen, stops).run())


def _explain() -> int:
    match sys.argv[1:]:
        case ["--version"]:
            write_line(f"status-reporter {__version__}")
        case ["-h" | "--help", *_]:
            write_line(usage().rstrip())
        case _:
            print(usage(), end="", file=sys.stderr)
            return Exit.MISCONFIGURED
    return 0


def _end_misconfigured(error: MisconfiguredReporter, stops: list[int]) -> int:
    usable = error.usable
    _log(usable)
    if usable.namespace and usable.api_url:
        return _end(usable, *_reporter(usable, stops).report_misconfigured(error))
    return _end(usable, Exit.MISCONFIGURED, str(error))


def _reporter(chosen: Settings, stops: list[int]) -> Reporter:
    """A reporter that handles signals, including those that came before."""
    reporter = Reporter(chosen)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: reporter.stop())
    for _ in stops:
        reporter.stop()
    return reporter


def _log(chosen: Settings) -> None:
    context = {
        "namespace": chosen.namespace,
        "job": chosen.job_name or "",
        "cluster_id": chosen.cluster_id,
        "generation": chosen.generation,
        "consumer": chosen.consumer,
    }
    logging_setup.configure(chosen.log_level, chosen.log_format, version=__version__, context=context)


def _end(chosen: Settings, code: Exit, sentence: str) -> int:
    level = logging.INFO if code is Exit.REPORTED else logging.ERROR
    logging.getLogger(__name__).log(level, "%s: %s", code.meaning, sentence)
    with contextlib.suppress(OSError):
        _write_termination_message(chosen.termination_log, redact_message(f"{code.meaning}: {sentence}"))
    return code


def _write_termination_message(path: Path, message: str) -> None:
    """The kubelet shows up to 4096 bytes of this file in the pod's status."""
    path.write_text(cut(message, MAX_TERMINATION_BYTES), encoding="utf-8")
