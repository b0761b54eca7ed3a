"""The reporter's exit codes: the same table in code, documentation and the container's termination message."""

from enum import IntEnum


class Exit(IntEnum):
    """REPORTED means that the Job's conditions show what is known, good or bad."""

    REPORTED = 0
    MISCONFIGURED = 2
    REFUSED = 3
    UNREACHABLE = 4
    TIMED_OUT = 5

    @property
    def meaning(self) -> str:
        return {
            Exit.REPORTED: "the Job's conditions say what is known",
            Exit.MISCONFIGURED: "the settings cannot work",
            Exit.REFUSED: "the API server refused the conditions",
            Exit.UNREACHABLE: "the API server could not be reached in time",
            Exit.TIMED_OUT: "the adapter reported nothing in time; the Job's conditions say so",
        }[self]
