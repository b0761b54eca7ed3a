"""`status-reporter`: install signal handlers first, then load the rest.

A pod can be stopped while its containers are still starting. The signal comes once; a process that misses it is killed
before it could report.
"""

import gc
import signal
import sys


def main() -> int:
    stops: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: stops.append(received))
    gc.disable()  # loading makes nothing but what stays, so there is nothing to collect
    from status_reporter.running import run  # noqa: PLC0415 - after the signals, because loading takes a while

    gc.enable()
    return run(stops)


if __name__ == "__main__":
    sys.exit(main())
