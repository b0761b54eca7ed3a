"""`maestro-cli`: reads the command line; all else is loaded once it is known to be needed.

A SIGTERM that comes meanwhile is kept: a container's first process gets none that it does not handle, and a Job's
result is written at every end.
"""

import os
import signal
import sys
from collections.abc import Sequence

from maestro_cli.command_line import PROGRAM, WrongCommandLine, parse
from shared.standard_streams import run_command


def main(arguments: Sequence[str] | None = None) -> int:
    stops: list[int] = []
    signal.signal(signal.SIGTERM, lambda received, _: stops.append(received))
    written = sys.argv[1:] if arguments is None else arguments
    return run_command(PROGRAM, lambda: _run(written, stops))


def _run(written: Sequence[str], stops: Sequence[int]) -> int:
    try:
        chosen = parse(written)
    except WrongCommandLine as error:
        from maestro_cli.running import refuse  # noqa: PLC0415 - `--help` must not wait for asyncio and gRPC to load

        return refuse(str(error), written, os.environ)
    from maestro_cli.running import run  # noqa: PLC0415 - as above

    return run(chosen, os.environ, stops)


if __name__ == "__main__":
    sys.exit(main())
