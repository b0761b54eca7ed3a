"""The report as far as it is known, over changes of its file and restarts of the adapter."""

from datetime import UTC, datetime

import pytest

from shared.model.conditions import Condition, Status
from shared.model.report import AdapterReport
from status_reporter.report.known_report import KnownReport
from status_reporter.verdict import Found, Missing, Reading, Unusable

FIRST_ATTEMPT = None
SECOND_ATTEMPT = datetime(2026, 1, 1, tzinfo=UTC)
REPORT = AdapterReport(conditions=(Condition(type="Applied", status=Status.TRUE),))
LATER = AdapterReport(conditions=(Condition(type="Applied", status=Status.FALSE),))
KNOWN = KnownReport().after(Found(REPORT), FIRST_ATTEMPT)


@pytest.mark.parametrize(
    ("known", "reading", "attempt", "counts"),
    [
        pytest.param(KnownReport(), Missing(), FIRST_ATTEMPT, Missing(), id="nothing yet"),
        pytest.param(KnownReport(), Unusable("no"), FIRST_ATTEMPT, Unusable("no"), id="a file that is no report"),
        pytest.param(KNOWN, Missing(), FIRST_ATTEMPT, Found(REPORT), id="a report whose file is gone"),
        pytest.param(KNOWN, Unusable("no"), FIRST_ATTEMPT, Found(REPORT), id="a report that garbage has replaced"),
        pytest.param(KNOWN, Unusable("no"), SECOND_ATTEMPT, Unusable("no"), id="garbage of another attempt"),
        pytest.param(KNOWN, Found(LATER), FIRST_ATTEMPT, Found(LATER), id="a later report"),
        pytest.param(KNOWN, Missing(), SECOND_ATTEMPT, Missing(), id="a report of an earlier attempt"),
    ],
)
def test_what_counts(known: KnownReport, reading: Reading, attempt: datetime | None, counts: Reading) -> None:
    assert known.reading(reading, attempt) == counts


def test_only_a_valid_report_is_remembered() -> None:
    assert KNOWN.after(Missing(), FIRST_ATTEMPT) == KNOWN.after(Unusable("no"), FIRST_ATTEMPT) == KNOWN
    assert KNOWN.after(Found(LATER), SECOND_ATTEMPT) == KnownReport(LATER, SECOND_ATTEMPT)
