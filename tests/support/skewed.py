"""`hyperfleet-adapter` on a machine whose clock is ahead: `python -m tests.support.skewed SECONDS serve …`."""

import sys
from datetime import timedelta

from shared import times


def _ahead_by(seconds: float) -> None:
    real = times.now
    times.now = lambda: real() + timedelta(seconds=seconds)


if __name__ == "__main__":
    _ahead_by(float(sys.argv[1]))
    from dispatcher.cli.main import main

    raise SystemExit(main(sys.argv[2:]))
