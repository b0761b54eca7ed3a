"""SIGTERM and SIGINT, handled from the first moment of the process to its last.

asyncio removes its own handlers when a loop closes: a SIGTERM that arrives after the report was written would then end
the process with 143 instead of its exit code.
"""

import signal
from collections.abc import Callable

_NUMBERS = (signal.SIGTERM, signal.SIGINT)


class StopSignals:
    def __init__(self) -> None:
        self._received = False
        self._notify: Callable[[], None] | None = None

    def install(self) -> None:
        for number in _NUMBERS:
            signal.signal(number, self._handle)

    def ignore(self) -> None:
        """From now on a signal changes nothing, also while the interpreter shuts down."""
        for number in _NUMBERS:
            signal.signal(number, signal.SIG_IGN)

    def call(self, notify: Callable[[], None] | None) -> None:
        """Whom to notify of a signal, at once where it has already arrived."""
        self._notify = notify
        if notify is not None and self._received:
            notify()

    def _handle(self, _number: int, _frame: object) -> None:
        self._received = True
        if self._notify is not None:
            self._notify()
