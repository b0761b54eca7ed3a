"""argparse, with the arguments that it refuses shown without their secrets."""

import argparse
from typing import NoReturn

from shared.redaction import redact_text


class ArgumentParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(redact_text(message))
