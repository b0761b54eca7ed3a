"""The end of a run: the report file, the log and the pod's termination message.

A report that cannot be written is written to the log in full, and its conditions to the termination message.
"""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

from controlplane_adapter import setting_table as table
from controlplane_adapter.exits import Exit
from controlplane_adapter.status.outgoing import outgoing
from shared import logs
from shared.environment import Environment
from shared.errors import HyperFleetError
from shared.model.report import AdapterReport

# The kubelet shows no more of it.
MAX_TERMINATION_BYTES = 4096


def end(code: Exit, report: AdapterReport, variables: Mapping[str, str]) -> Exit:
    """Write the report and end with `code`, or with UNREPORTED where it cannot be written."""
    environment, log = Environment(variables), logs.get(__name__)
    path, report = environment.read(table.RESULTS_PATH), outgoing(report)
    try:
        report.write(path)
    except (OSError, ValueError, HyperFleetError) as error:
        why = getattr(error, "strerror", None) or str(error)
        remedy = f"check that its folder exists and is writable, or set {table.RESULTS_PATH.name}"
        log.error("cannot write the report", path=str(path), error=why, remedy=remedy, report=report.to_json())  # noqa: TRY400 - the traceback says no more
        code = Exit.UNREPORTED
    for condition in report.conditions:
        log.info(
            "not reported" if code is Exit.UNREPORTED else "reported",
            condition=f"{condition.type}={condition.status}",
            reason=condition.reason,
            detail=condition.message,
            observed_generation=report.observed_generation,
        )
    if code is not Exit.REPORTED:
        _write_termination_message(environment.read(table.TERMINATION_PATH), _summary(code, report))
    return code


def _summary(code: Exit, report: AdapterReport) -> str:
    conditions = [f"{each.type}={each.status} {each.reason}: {each.message}" for each in report.conditions]
    distinct = list(dict.fromkeys(conditions))
    return "\n".join([code.meaning, *distinct])


def _write_termination_message(path: Path, message: str) -> None:
    """Into the file that the kubelet has put there; it is not created where there is none."""
    content = message.encode(errors="replace")[:MAX_TERMINATION_BYTES].decode(errors="ignore").encode()
    with contextlib.suppress(OSError, ValueError):
        descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
