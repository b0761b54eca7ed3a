"""Injected faults of the API server: those of any HTTP server, and what only watches can suffer.

Requests of the admin never fail, so that a test can observe and set up objects meanwhile.
"""

from collections.abc import Callable

from lab import http_faults


class Faults(http_faults.Faults):
    """`cut_watches` breaks every open watch; `expire_history` makes the next one start too far back."""

    def __init__(self, *, cut_watches: Callable[[], None], expire_history: Callable[[], None]) -> None:
        super().__init__()
        self.cut_watches = cut_watches
        self.expire_history = expire_history
