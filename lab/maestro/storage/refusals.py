"""Maestro's numbered errors: the number is in the text of a gRPC error and in the body of a REST error."""

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
    """An error of Maestro; `str()` is the text of the gRPC error."""

    def __init__(self, code: Code, reason: str) -> None:
        super().__init__(f"maestro-{code}: {reason}")
        self.code = code
        self.reason = reason

    @property
    def http_status(self) -> int:
        return _HTTP_STATUS[self.code]
