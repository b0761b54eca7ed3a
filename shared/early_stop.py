"""SIGTERM before a program handles it itself: while it loads, it has nothing to finish.

A container's first process gets no signal that it does not handle: a pod that is deleted then would wait for its whole
grace period.
"""

import os
import signal

TERMINATED = 128 + signal.SIGTERM


def end_at_sigterm(code: int = TERMINATED) -> None:
    """Until the program installs a handler of its own. No exception: code that is being imported could catch it."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(code))
