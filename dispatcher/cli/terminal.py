"""A command's output: results on standard output, errors on standard error, always in UTF-8."""

import io
import os
import sys

from shared.redaction import redact_message


class UsageError(Exception):
    """The user did something wrong; the text names the thing, the cause and the remedy. Ends the command with 2."""


def prepare() -> None:
    """A terminal that knows no UTF-8, and text that is none, must not end an answer half-way."""
    for stream, on_error in ((sys.stdin, "strict"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=on_error)


def answer(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def print_error(text: str) -> None:
    sys.stderr.write(f"{redact_message(text)}\n")


def abandon() -> None:
    """The reader went away, as `head` does: nothing more can be written, also not while the interpreter closes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
