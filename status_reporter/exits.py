"""The reporter's exit codes: the same table in code, documentation and the container's termination message."""

from enum import IntEnum


class Exit(IntEnum):
    """REPORTED: the Job has the result, whether the adapter succeeded or failed."""

    REPORTED = 0
    MISCONFIGURED = 2
    REFUSED = 3
    UNREACHABLE = 4
    TIMED_OUT = 5

    @property
    def meaning(self) -> str:
        return {
            Exit.REPORTED: "the result is on the Job",
            Exit.MISCONFIGURED: "the settings are invalid",
            Exit.REFUSED: "the API server refused the conditions",
            Exit.UNREACHABLE: "the API server could not be reached in time",
            Exit.TIMED_OUT: "the adapter reported nothing in time; the Job's conditions say so",
        }[self]
