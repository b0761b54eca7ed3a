"""The report as a file: everything that may lie at its place, from half of it to a pipe, a link or a terabyte."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from shared.errors import InvalidReport
from shared.model.conditions import Condition, Status
from shared.model.report import AdapterReport
from shared.untrusted_json import MAX_BYTES

REPORT = AdapterReport(conditions=(Condition(type="Available", status=Status.TRUE, reason="R", message="zwölf"),))


def open_files() -> set[str]:
    return {each.name for each in Path("/proc/self/fd").iterdir()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    return folder / "adapter-report.json"


def test_it_is_read_as_it_was_written(path: Path) -> None:
    REPORT.write(path)
    assert AdapterReport.read(path) == REPORT


def test_one_that_is_not_there_yet_is_no_invalid_report(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        AdapterReport.read(path)


def test_half_of_one_is_invalid(path: Path) -> None:
    content = REPORT.to_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(InvalidReport, match="not JSON"):
        AdapterReport.read(path)


def test_one_of_exactly_the_largest_size_is_read(path: Path) -> None:
    content = b'{"status":"success","message":"%s"}'
    path.write_bytes(content % (b"x" * (MAX_BYTES - len(content) + 2)))
    assert path.stat().st_size == MAX_BYTES
    assert AdapterReport.read(path).headline.status is Status.TRUE


def test_one_byte_more_is_too_much(path: Path) -> None:
    content = b'{"status":"success","message":"%s"}'
    path.write_bytes(content % (b"x" * (MAX_BYTES - len(content) + 3)))
    with pytest.raises(InvalidReport, match="too large"):
        AdapterReport.read(path)


def test_an_endless_one_is_not_read_to_its_end(path: Path) -> None:
    with path.open("wb") as sparse:
        sparse.truncate(1 << 40)
    with pytest.raises(InvalidReport, match="too large"):
        AdapterReport.read(path)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["a folder", "a named pipe"])
def test_what_is_no_file_is_refused_at_once_and_without_leaving_anything_open(
    path: Path, make: Callable[[Path], None]
) -> None:
    make(path)
    before = open_files()
    with pytest.raises(InvalidReport, match="not a regular file"):
        AdapterReport.read(path)
    assert open_files() == before


def test_a_link_out_of_the_folder_is_refused(path: Path, tmp_path: Path) -> None:
    outside = tmp_path / "token"
    REPORT.write(outside)
    path.symlink_to(outside)
    with pytest.raises(InvalidReport, match="leads out of its folder"):
        AdapterReport.read(path)


def test_a_link_through_a_linked_folder_is_refused_too(path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    REPORT.write(elsewhere / "r.json")
    (path.parent / "inside").symlink_to(elsewhere)
    path.symlink_to("inside/r.json")
    with pytest.raises(InvalidReport, match="leads out of its folder"):
        AdapterReport.read(path)


@pytest.mark.parametrize("place", ["real.json", "sub/real.json"])
def test_a_link_inside_the_folder_is_followed(path: Path, place: str) -> None:
    real = path.parent / place
    real.parent.mkdir(exist_ok=True)
    REPORT.write(real)
    path.symlink_to(place)
    assert AdapterReport.read(path) == REPORT


def test_the_folder_itself_may_be_reached_by_a_link(path: Path, tmp_path: Path) -> None:
    REPORT.write(path)
    (tmp_path / "mounted").symlink_to(path.parent)
    assert AdapterReport.read(tmp_path / "mounted" / path.name) == REPORT


def test_a_link_to_itself_cannot_be_read(path: Path) -> None:
    path.symlink_to(path.name)
    with pytest.raises(OSError, match="symbolic links"):
        AdapterReport.read(path)
