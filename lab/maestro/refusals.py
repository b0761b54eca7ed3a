"""The numbered errors of Maestro: the same number goes into a gRPC text and, with an HTTP status, into a REST body."""

from enum import IntEnum


class Code(IntEnum):
    FORBIDDEN = 4
    CONFLICT = 6
    NOT_FOUND = 7
    VALIDATION = 8
    GENERAL = 9
    MALFORMED = 17
    BAD_REQUEST = 21


_HTTP_STATUS = {
    Code.FORBIDDEN: 403,
    Code.CONFLICT: 409,
    Code.NOT_FOUND: 404,
    Code.VALIDATION: 400,
    Code.GENERAL: 500,
    Code.MALFORMED: 400,
    Code.BAD_REQUEST: 400,
}


class Refusal(Exception):
    """Maestro says no: `str()` is how the gRPC side words it."""

    def __init__(self, code: Code, reason: str) -> None:
        super().__init__(f"maestro-{code}: {reason}")
        self.code = code
        self.reason = reason

    @property
    def http_status(self) -> int:
        return _HTTP_STATUS[self.code]
