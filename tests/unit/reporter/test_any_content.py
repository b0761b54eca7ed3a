"""Any content of the file is read without a fault, and its conditions fit on a Job."""

import itertools
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, event, given, settings

from shared.model.conditions import Condition, Status
from status_reporter.job.patching import MAX_DATA_BYTES, MAX_MESSAGE_BYTES, MAX_REASON_BYTES, patch_for
from status_reporter.pod.container import CannotStart, Running, State, Terminated
from status_reporter.report.report_file import read
from status_reporter.settings import RESERVED_TYPES
from status_reporter.shutdown import Stage
from status_reporter.verdict import Facts, Reading, Verdict, verdict
from tests.support.reporter_contents import CONTENTS

NOW = datetime(2026, 5, 1, tzinfo=UTC)
TYPES = ("Applied", "Available", "Health")
STATES: tuple[State, ...] = (
    Running(),
    CannotStart(reason="ErrImagePull", message=""),
    Terminated(exit_code=0, reason="Completed", message=""),
    Terminated(exit_code=1, reason="Error", message="", final=False),
)
# The API server takes 3 MiB.
MAX_BODY_BYTES = 2 * 1024 * 1024


def verdicts(reading: Reading) -> list[Verdict]:
    """Every verdict that can follow from it."""
    found: list[Verdict] = []
    for state, waited, stage in itertools.product(STATES, (0.0, 300.0), Stage):
        facts = Facts(reading=reading, container=state, waited=waited, max_wait=300.0, stage=stage)
        decided = verdict(facts, TYPES)
        if decided is not None and not any(decided.same_content_as(each) for each in found):
            found.append(decided)
    return found


def assert_fits(body: dict[str, Any]) -> None:
    """The API server's rules, and the narrower ones of those who read the Job."""
    sent = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    assert len(sent) <= MAX_BODY_BYTES
    assert body.keys() <= {"metadata", "status"}
    for text in body.get("metadata", {}).get("annotations", {}).values():
        assert len(text.encode()) <= MAX_DATA_BYTES
        assert isinstance(json.loads(text), dict)
    conditions = body["status"]["conditions"]
    assert len({each["type"] for each in conditions}) == len(conditions) > 0
    for each in conditions:
        assert each.keys() == {"type", "status", "reason", "message", "lastTransitionTime"}
        assert each["type"] not in RESERVED_TYPES
        assert each["status"] in set(Status)
        assert len(each["reason"].encode()) <= MAX_REASON_BYTES
        assert len(each["message"].encode()) <= MAX_MESSAGE_BYTES
        Condition.from_kubernetes(each)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(CONTENTS)
def test_any_content_is_read_and_reported(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "adapter-report.json"
    file.write_bytes(content)
    reading = read(file, condition_type="Available", attempt_began=None)
    event(type(reading).__name__)

    for decided in verdicts(reading):
        assert_fits(patch_for(decided.conditions, decided.data, present={}, now=NOW, uid="u").body)


def test_the_largest_report_a_reader_takes_fits(tmp_path: Path) -> None:
    """The most conditions, each with the longest texts, and the most data."""
    file = tmp_path / "adapter-report.json"
    conditions = [
        {"type": f"{'d' * 200}/Type{number}", "status": "True", "reason": "r" * 300, "message": "\0" * 1300}
        for number in range(100)
    ]
    file.write_text(json.dumps({"conditions": conditions, "data": {"a": "x" * 65_000}}, ensure_ascii=False))
    (decided,) = verdicts(read(file, condition_type="Available", attempt_began=None))
    body = patch_for(decided.conditions, decided.data, present={}, now=NOW, uid="u").body
    assert [each["type"] for each in body["status"]["conditions"]] == [each["type"] for each in conditions]
    assert_fits(body)
