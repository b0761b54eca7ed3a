"""Running the sidecar, and ending with a code and a sentence that say how it went."""

import contextlib
import logging
import os
import signal
import sys
from pathlib import Path

from status_reporter import __version__, lines, settings
from status_reporter.exits import Exit
from status_reporter.patching import cut
from status_reporter.reporting import Reporter
from status_reporter.settings import MisconfiguredReporter, Settings

MAX_TERMINATION_BYTES = 4000
USAGE = """\
status-reporter: puts an adapter's report on its Kubernetes Job. It runs as the second container of the Job's pod.

It takes no arguments; the environment tells it everything (defaults in brackets):
  RESULTS_INPUT_PATH, RESULTS_PATH      the report file [/results/adapter-report.json]
  POLL_INTERVAL, POLL_INTERVAL_SECONDS  how often to look where file events do not come [2s]
  MAX_WAIT_TIME_SECONDS                 how long to wait for a report [300]
  JOB_NAME, JOB_NAMESPACE               the Job [the pod's owner, the pod's namespace]
  POD_NAME                              this pod [the host's name]
  ADAPTER_CONTAINER_NAME                the adapter's container [the only other one]
  CONDITION_TYPE                        conditions to set when the adapter says nothing, a list [Available]
  SHUTDOWN_GRACE_SECONDS                how long to wait for a last report and write it after SIGTERM [20]
  LOG_LEVEL, LOG_FORMAT                 debug, info, warn, error [info]; json, text [json]
  KUBERNETES_API_URL, SERVICE_ACCOUNT_PATH, TERMINATION_MESSAGE_PATH   for use outside a pod

Exit codes:
"""


def run(stops: list[int]) -> int:
    """`stops` are the signals that came before anybody could act on them."""
    if len(sys.argv) > 1:
        table = "".join(f"  {code.value}  {code.meaning}\n" for code in Exit)
        wrong = sys.argv[1] not in ("-h", "--help")
        print(USAGE + table, end="", file=sys.stderr if wrong else sys.stdout)
        return Exit.MISCONFIGURED if wrong else 0
    try:
        chosen = settings.load(os.environ)
    except MisconfiguredReporter as error:
        return _tell_misconfigured(error, stops)
    _log(chosen)
    return _end(chosen, *_reporter(chosen, stops).run())


def _tell_misconfigured(error: MisconfiguredReporter, stops: list[int]) -> int:
    usable = error.usable
    _log(usable)
    if usable.namespace and usable.api_url:
        return _end(usable, *_reporter(usable, stops).report_misconfigured(error))
    return _end(usable, Exit.MISCONFIGURED, str(error))


def _reporter(chosen: Settings, stops: list[int]) -> Reporter:
    """A reporter that listens to the signals, and has heard those that came before."""
    reporter = Reporter(chosen)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: reporter.stop())
    for _ in stops:
        reporter.stop()
    return reporter


def _log(chosen: Settings) -> None:
    context = {"namespace": chosen.namespace} | ({"job": chosen.job_name} if chosen.job_name else {})
    lines.configure(chosen.log_level, chosen.log_format, version=__version__, context=context)


def _end(chosen: Settings, code: Exit, sentence: str) -> int:
    level = logging.INFO if code is Exit.REPORTED else logging.ERROR
    logging.getLogger(__name__).log(level, "%s: %s", code.meaning, sentence)
    with contextlib.suppress(OSError):
        _write_termination_message(chosen.termination_log, f"{code.meaning}: {sentence}")
    return code


def _write_termination_message(path: Path, message: str) -> None:
    """The kubelet shows up to 4096 bytes of this file in the pod's status."""
    path.write_text(cut(message, MAX_TERMINATION_BYTES), encoding="utf-8")
