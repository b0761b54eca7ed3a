"""The clock of an evaluation, so that `now` can be stopped in a test or on the command line."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    return datetime.now(UTC)
