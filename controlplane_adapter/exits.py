"""How the container ends. The same table is in the Job's `podFailurePolicy` and in the documentation.

The report says what happened; the code only says whether another pod could do better.
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
            Exit.REPORTED: "the report says how the cluster is",
            Exit.MISCONFIGURED: "the settings cannot work; reported, another pod would fail alike",
            Exit.PERMANENT: "refused; reported, another pod would be refused alike",
            Exit.TRANSIENT: "something was in trouble; reported, another pod may do better",
            Exit.UNREPORTED: "the report could not be written",
        }[self]


def exit_for(error: HyperFleetError) -> Exit:
    if isinstance(error, Misconfigured):
        return Exit.MISCONFIGURED
    return Exit.TRANSIENT if isinstance(error, Transient) else Exit.PERMANENT
