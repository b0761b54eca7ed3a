"""The adapter's report as far as it is known: what the file says now, or said before in the same attempt. Pure."""

from datetime import datetime
from typing import NamedTuple

from shared.model.report import AdapterReport
from status_reporter.verdict import Found, Reading


class KnownReport(NamedTuple):
    """The last valid report, and the attempt of the adapter that wrote it."""

    report: AdapterReport | None = None
    attempt_began: datetime | None = None

    def after(self, reading: Reading, attempt_began: datetime | None) -> "KnownReport":
        return KnownReport(reading.report, attempt_began) if isinstance(reading, Found) else self

    def reading(self, reading: Reading, attempt_began: datetime | None) -> Reading:
        """What counts: a valid report of this attempt, also after its file is gone or replaced by something else."""
        if not isinstance(reading, Found) and self.report is not None and self.attempt_began == attempt_began:
            return Found(self.report)
        return reading
