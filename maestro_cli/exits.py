"""How a command ends, for scripts. The same table stands in docs/maestro-cli.md."""

from enum import IntEnum

from maestro_cli.waiting.parsing import InvalidExpression
from shared.errors import (
    AlreadyExists,
    Conflict,
    DeadlineExceeded,
    Deleting,
    Forbidden,
    HyperFleetError,
    Misconfigured,
    NotFound,
    NotOwned,
    Permanent,
    Transient,
    Unauthenticated,
)


class Exit(IntEnum):
    OK = 0
    ERROR = 1
    USAGE = 2
    NOT_FOUND = 3
    TIMEOUT = 4
    CONFLICT = 5
    FAILED_CONDITION = 6
    DIFFERENT = 7
    UNREACHABLE = 8
    TERMINATED = 143


class UsageError(Permanent):
    """The command line, or a file it names, cannot be understood."""


class TimedOut(Permanent):
    """What was waited for did not come in time."""


class Terminated(Permanent):
    """A signal ended the command before its end."""


class FailedCondition(Permanent):
    """What must not come came: the expression of --fail-on holds."""


def exit_code(error: HyperFleetError) -> Exit:
    match error:
        case UsageError() | Misconfigured() | InvalidExpression():
            return Exit.USAGE
        case NotFound():
            return Exit.NOT_FOUND
        case TimedOut():
            return Exit.TIMEOUT
        case FailedCondition():
            return Exit.FAILED_CONDITION
        case Conflict() | AlreadyExists() | Deleting() | NotOwned():
            return Exit.CONFLICT
        case Unauthenticated() | Forbidden() | DeadlineExceeded() | Transient():
            return Exit.UNREACHABLE
    return Exit.ERROR
