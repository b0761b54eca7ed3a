"""The report file: what one read gives, and that every change is noticed without waiting for a poll."""

import contextlib
import errno
import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread

import pytest

from status_reporter.report.inotify import FolderWatch
from status_reporter.report.report_file import notify_on_change, read
from status_reporter.verdict import Found, Missing, Reading, Unusable

REPORT = json.dumps({"conditions": [{"type": "Applied", "status": "True"}]})
NEVER = 3600.0
TIMEOUT_SECONDS = 20.0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "adapter-report.json"


def seen(file: Path, attempt_began: datetime | None = None) -> Reading:
    return read(file, condition_type="Available", attempt_began=attempt_began)


def problem(reading: Reading) -> str:
    assert isinstance(reading, Unusable)
    return reading.problem


def test_a_report_is_found(file: Path) -> None:
    file.write_text(REPORT)
    reading = seen(file)
    assert isinstance(reading, Found)
    assert [each.type for each in reading.report.conditions] == ["Applied"]


def test_a_form_with_only_a_status_speaks_of_the_configured_condition(file: Path) -> None:
    file.write_text('{"status": "success"}')
    reading = seen(file)
    assert isinstance(reading, Found)
    assert reading.report.headline.type == "Available"


def test_no_file_and_no_folder_are_missing(file: Path) -> None:
    assert seen(file) == Missing()
    assert seen(file.parent / "nowhere" / "report.json") == Missing()


def a_folder(file: Path) -> None:
    file.mkdir()


def a_pipe(file: Path) -> None:
    os.mkfifo(file)


def a_link_to_itself(file: Path) -> None:
    file.symlink_to(file)


def a_link_to_nothing(file: Path) -> None:
    file.symlink_to(file.parent / "later.json")


def a_link_to_a_secret(file: Path) -> None:
    file.symlink_to("/etc/passwd")


def half_a_report(file: Path) -> None:
    file.write_text(REPORT[:20])


def a_claim_to_the_jobs_own_conditions(file: Path) -> None:
    conditions = [{"type": "Complete", "status": "True"}, {"type": "Failed", "status": "False"}]
    file.write_text(json.dumps({"conditions": conditions}))


def more_than_a_job_takes(file: Path) -> None:
    conditions = [{"type": f"Step{number}", "status": "True"} for number in range(101)]
    file.write_text(json.dumps({"conditions": conditions}))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (a_folder, "not a regular file"),
        (a_pipe, "not a regular file"),
        (a_link_to_itself, "cannot be read: Too many levels of symbolic links"),
        (a_link_to_a_secret, "leads out of its folder"),
        (half_a_report, "line 1, column"),
        (a_claim_to_the_jobs_own_conditions, "names no condition but those of the Job controller"),
        (more_than_a_job_takes, "names 101 conditions; a Job takes at most 100"),
    ],
)
def test_what_cannot_be_used_is_reported_by_its_problem(
    file: Path, make: Callable[[Path], None], expected: str
) -> None:
    make(file)
    assert expected in problem(seen(file))


def test_a_link_to_a_file_that_is_yet_to_come_is_missing(file: Path) -> None:
    a_link_to_nothing(file)
    assert seen(file) == Missing()


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        pytest.param(timedelta(seconds=-5), Missing, id="older than the attempt"),
        pytest.param(timedelta(milliseconds=-500), Missing, id="a moment older"),
        pytest.param(timedelta(milliseconds=300), Found, id="within the second of its start"),
        pytest.param(timedelta(seconds=5), Found, id="younger"),
        pytest.param(timedelta(days=365 * 20_000), Found, id="of a year that no calendar has"),
    ],
)
def test_a_file_from_before_the_attempt_is_not_its_report(file: Path, age: timedelta, expected: type[Reading]) -> None:
    began = datetime(2026, 1, 1, 10, 0, 0, tzinfo=UTC)
    file.write_text(REPORT)
    moment = began.timestamp() + age.total_seconds()
    os.utime(file, (moment, moment))
    assert isinstance(seen(file, attempt_began=began), expected)


def write(file: Path) -> None:
    file.write_text("{")


def rename(file: Path) -> None:
    (file.parent.parent / "temporary").write_text("{")
    (file.parent.parent / "temporary").rename(file)


def allow(file: Path) -> None:
    file.parent.joinpath("there").chmod(0o600)


def append(file: Path) -> None:
    with file.parent.joinpath("there").open("a") as there:
        there.write("}")


@pytest.mark.parametrize("change", [write, rename, allow, append])
def test_the_kernel_announces_every_way_to_bring_a_file(tmp_path: Path, change: Callable[[Path], None]) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    folder.joinpath("there").write_text("{")
    with FolderWatch(folder) as watch:
        assert not watch.wait(0.0), "nothing has happened yet"
        change(folder / "adapter-report.json")
        assert watch.wait(TIMEOUT_SECONDS)


def test_a_burst_of_changes_is_taken_in_at_once(tmp_path: Path) -> None:
    with FolderWatch(tmp_path) as watch:
        for number in range(500):
            tmp_path.joinpath(str(number)).touch()
        assert watch.wait(TIMEOUT_SECONDS)
        assert not watch.wait(0.0)


def test_a_folder_that_is_not_there_cannot_be_watched_however_often_it_is_tried(tmp_path: Path) -> None:
    for _ in range(300):
        with pytest.raises(OSError, match="No such file") as refused:
            FolderWatch(tmp_path / "nowhere")
        assert refused.value.errno == errno.ENOENT


class _Over(Exception):
    """That nobody listens any more."""


class Ear:
    """Counts a thread's notifications until the test is over."""

    def __init__(self) -> None:
        self._notified: SimpleQueue[None] = SimpleQueue()
        self._deaf = Event()

    def listen(self, file: Path, poll_interval: float) -> None:
        def run() -> None:
            with contextlib.suppress(_Over):
                notify_on_change(file, poll_interval, self._notify)

        Thread(target=run, daemon=True).start()

    def _notify(self) -> None:
        if self._deaf.is_set():
            raise _Over
        self._notified.put(None)

    def hears(self, times: int = 1) -> None:
        for _ in range(times):
            self._notified.get(timeout=TIMEOUT_SECONDS)

    def hears_nothing_more(self) -> None:
        with pytest.raises(Empty):
            self._notified.get_nowait()

    def close(self) -> None:
        self._deaf.set()


@pytest.fixture
def ear() -> Iterator[Ear]:
    with contextlib.closing(Ear()) as open_ear:
        yield open_ear


def test_a_change_is_reported_without_waiting_for_a_poll(file: Path, ear: Ear) -> None:
    ear.listen(file, NEVER)
    ear.hears()
    ear.hears_nothing_more()
    rename(file)
    ear.hears()


def test_without_a_folder_it_is_reported_once_per_interval_and_goes_on_when_the_folder_comes(
    tmp_path: Path, ear: Ear
) -> None:
    folder = tmp_path / "later"
    ear.listen(folder / "adapter-report.json", 0.01)
    ear.hears(times=3)
    folder.mkdir()
    ear.hears(times=3)


def test_it_is_reported_once_per_interval_even_when_the_kernel_is_silent(file: Path, ear: Ear) -> None:
    ear.listen(file, 0.01)
    ear.hears(times=5)
