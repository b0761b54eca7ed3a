"""A command's standard streams: UTF-8 whatever the locale is, and one line where standard output takes no more.

A reader that goes away, as `head` does, is no failure; a full disk is one. What a caller closed is left out.
"""

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

FAILED = 1
INTERRUPTED = 130
_STREAMS = {"stdin": ("r", "strict"), "stdout": ("w", "backslashreplace"), "stderr": ("w", "backslashreplace")}


class _UnwritableOutput(Exception):
    def __init__(self, cause: OSError) -> None:
        super().__init__(f"standard output: {cause.strerror}")
        self.reader_is_gone = isinstance(cause, BrokenPipeError)


def write_line(text: str) -> None:
    """Write an answer to standard output. Only for what `run_command` runs, which handles that it cannot be written."""
    try:
        sys.stdout.write(f"{text}\n")
    except OSError as error:
        raise _UnwritableOutput(error) from error


def wants_colour(stream: TextIO) -> bool:
    """A terminal whose user did not set NO_COLOR (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def run_command(program: str, command: Callable[[], int]) -> int:
    """The exit code of `command`, once its output is written."""
    _prepare()
    code = 0
    try:
        try:
            code = command()
        except SystemExit:  # argparse, after a help or a refusal
            _flush()
            raise
        _flush()
    except _UnwritableOutput as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter fails while it ends
        if error.reader_is_gone:
            return code
        sys.stderr.write(f"{program}: {error}\n")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _prepare() -> None:
    for name, (mode, on_error) in _STREAMS.items():
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - open until the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=on_error)


def _flush() -> None:
    try:
        sys.stdout.flush()
    except OSError as error:
        raise _UnwritableOutput(error) from error
