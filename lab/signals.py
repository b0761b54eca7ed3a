"""Signals to child processes."""

import contextlib
import os
import signal
from asyncio.subprocess import Process


def send_signal(process: Process, how: signal.Signals) -> None:
    """Signal a process that may have ended.

    The process's own method would reap one that has just ended, and asyncio then reports 255 as its exit code.
    """
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, how)
