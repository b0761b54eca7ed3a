"""Progress of slow steps: each is printed when it ends, with its duration."""

import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """A finished step; `seconds` excludes the steps nested in it."""

    what: str
    seconds: float
    began: float


# All finished steps of this process.
done: list[Step] = []


@contextlib.contextmanager
def step(what: str, *, warning: str = "") -> Iterator[None]:
    """Print the step when it ends; with a `warning` also before it starts."""
    if warning:
        _print(f"{what} ({warning}) ...")
    before, began, started = len(done), time.time(), time.monotonic()
    yield
    elapsed = time.monotonic() - started
    done.append(Step(what, elapsed - sum(each.seconds for each in done[before:]), began))
    _print(f"{elapsed:7.1f} s  {what}")


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
