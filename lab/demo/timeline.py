"""Prints what happens in the demo, which component does it, and when; in colour on a terminal."""

import sys
import time
from typing import Final

from shared.standard_streams import wants_colour

COLOURS: Final = {
    "you": "1",
    "Sentinel": "35",
    "dispatcher": "34",
    "kubelet": "31",
    "status reporter": "36",
    "Maestro": "33",
    "HyperShift": "32",
    "DPF": "35",
    "DPU bridge": "36",
    "HyperFleet API": "1;34",
}


class Timeline:
    def __init__(self, *, colour: bool | None = None) -> None:
        self._start = time.monotonic()
        self._colour = wants_colour(sys.stdout) if colour is None else colour
        self.steps: list[tuple[str, float]] = []

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._start

    def section(self, title: str) -> None:
        print(f"\n{title}\n", flush=True)

    def event(self, who: str, what: str) -> None:
        shown = f"\x1b[{COLOURS.get(who, '0')}m{who:<16}\x1b[0m" if self._colour else f"{who:<16}"
        print(f"{self.elapsed:8.1f} s  {shown} {what}"[: 400 if self._colour else 160], flush=True)

    def reached(self, what: str) -> None:
        """A milestone, for the table at the end."""
        self.steps.append((what, self.elapsed))

    def table(self) -> None:
        """What was reached, and how long each step took."""
        print("\nwhat happened:", flush=True)
        before = 0.0
        for what, at in self.steps:
            print(f"  {what:<60} {at - before:6.1f} s", flush=True)
            before = at
