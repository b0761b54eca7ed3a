"""What takes long on the way to real servers, told as it happens: a person sees that it goes on, and what it cost."""

import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """Something that was done, since when; `seconds` are its own, without those of the steps within it."""

    what: str
    seconds: float
    began: float


# All that this process has done so far.
done: list[Step] = []


@contextlib.contextmanager
def step(what: str, *, warning: str = "") -> Iterator[None]:
    """Tell of it when it is done, and with a `warning` before it begins as well."""
    if warning:
        _tell(f"{what} ({warning}) ...")
    before, began, started = len(done), time.time(), time.monotonic()
    yield
    elapsed = time.monotonic() - started
    done.append(Step(what, elapsed - sum(each.seconds for each in done[before:]), began))
    _tell(f"{elapsed:7.1f} s  {what}")


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
