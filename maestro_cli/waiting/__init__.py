"""The language of `wait --for`, `apply --wait` and `--fail-on`: parsed before anything is sent, judged on fresh status.

    parse("Applied AND Job/batch/sync:Complete") -> Expression      raises InvalidExpression with a position
    met(expression, work) -> bool
    unmet(expression, work) -> what is still missing, as sentences

Every expression the Go maestro-cli accepts is accepted; `AND` binds closer than `OR`, and what it silently waits for
without end (a typing error, `NOT`, `!=`) is either understood or refused here.
"""

from maestro_cli.waiting.judging import met, unmet
from maestro_cli.waiting.parsing import InvalidExpression, parse
from maestro_cli.waiting.syntax import Expression

__all__ = ["Expression", "InvalidExpression", "met", "parse", "unmet"]
