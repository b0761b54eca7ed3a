"""argparse, with the arguments that it refuses shown without their secrets, and the values of options."""

import argparse
from typing import NoReturn

from shared.redaction import redact_text

MAX_PORT = 65535


class ArgumentParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(redact_text(message))


def port(text: str) -> int:
    """An option's value as a port."""
    number = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= number <= MAX_PORT:
        raise argparse.ArgumentTypeError(f"must be a port from 0 to {MAX_PORT}, not {text!r}")
    return number
