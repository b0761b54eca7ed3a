"""A command's output: results on standard output, errors on standard error."""

import sys

from shared.redaction import redact_message
from shared.standard_streams import write_line


class UsageError(Exception):
    """The user did something wrong; the text names the thing, the cause and the remedy. Ends the command with 2."""


def answer(text: str) -> None:
    write_line(text)


def print_error(text: str) -> None:
    sys.stderr.write(f"{redact_message(text)}\n")
