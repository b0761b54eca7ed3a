"""The exit codes of the container. The Job's `podFailurePolicy` and the documentation have the same table.

The report says what happened; the code only says whether another pod may succeed.
"""

from enum import IntEnum

from shared.errors import HyperFleetError, Misconfigured, Transient


class Exit(IntEnum):
    REPORTED = 0
    MISCONFIGURED = 2
    PERMANENT = 3
    TRANSIENT = 4
    UNREPORTED = 5

    @property
    def meaning(self) -> str:
        return {
            Exit.REPORTED: "success: the report has the state of the cluster",
            Exit.MISCONFIGURED: "invalid settings: reported, another pod would fail as well",
            Exit.PERMANENT: "permanent failure: reported, another pod would fail as well",
            Exit.TRANSIENT: "transient failure: reported, another pod may succeed",
            Exit.UNREPORTED: "the report could not be written; another pod may succeed",
        }[self]


def exit_for(error: HyperFleetError) -> Exit:
    if isinstance(error, Misconfigured):
        return Exit.MISCONFIGURED
    return Exit.TRANSIENT if isinstance(error, Transient) else Exit.PERMANENT
