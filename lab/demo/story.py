"""Telling what happens, who does it, and when."""

import time


class Story:
    def __init__(self) -> None:
        self._start = time.monotonic()

    def chapter(self, title: str) -> None:
        print(f"\n{title}\n", flush=True)

    def tell(self, who: str, what: str) -> None:
        elapsed = (time.monotonic() - self._start) * 1000
        print(f"{elapsed:8.0f} ms  {who:<20} {what}", flush=True)
