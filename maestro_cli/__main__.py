"""`maestro-cli`: reads the command line; all else is loaded once it is known to be needed.

A SIGTERM that comes meanwhile is kept: a container's first process gets none that it does not handle, and a Job's
result is written at every end.
"""

import os
import signal
import sys
from collections.abc import Sequence

from maestro_cli.command_line import WrongCommandLine, parse

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    stops: list[int] = []
    signal.signal(signal.SIGTERM, lambda received, _: stops.append(received))
    _write_utf8()
    written = sys.argv[1:] if arguments is None else arguments
    try:
        chosen = parse(written)
        from maestro_cli.running import run  # noqa: PLC0415 - `--help` must not wait for asyncio and gRPC to load

        code = run(chosen, os.environ, stops)
        sys.stdout.flush()
    except WrongCommandLine as error:
        from maestro_cli.running import refuse  # noqa: PLC0415 - as above

        return refuse(str(error), written, os.environ)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _INTERRUPTED
    return code


def _write_utf8() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
