"""How the process is asked to stop: the first signal begins the shutdown, the second ends the process at once."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Iterator

SIGNALS = (signal.SIGTERM, signal.SIGINT)
ABORTED = 1


@contextlib.contextmanager
def stop_signals() -> Iterator[asyncio.Event]:
    """An event that the first signal sets."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def receive() -> None:
        if stop.is_set():
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(ABORTED)
        stop.set()

    for each in SIGNALS:
        loop.add_signal_handler(each, receive)
    try:
        yield stop
    finally:
        for each in SIGNALS:
            loop.remove_signal_handler(each)
