"""Atomic writes over faults: a reader sees the old file or the new one, never a part."""

import os
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from shared.files import write_atomically


def run(script: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=240)


def test_the_content_is_there_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    write_atomically(target, b"new")
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_whoever_has_the_old_file_open_goes_on_reading_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    write_atomically(target, b"old and longer")
    with target.open("rb") as reader:
        write_atomically(target, b"new")
        assert reader.read() == b"old and longer"
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("mode", [0o644, 0o600])
def test_the_mode_is_the_one_asked_for_under_a_restrictive_umask(tmp_path: Path, mode: int) -> None:
    target = tmp_path / "report.json"
    former = os.umask(0o077)
    try:
        write_atomically(target, b"x", mode=mode)
    finally:
        os.umask(former)
    assert stat.S_IMODE(target.stat().st_mode) == mode


def test_others_may_read_the_file_by_default(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    write_atomically(target, b"x")
    assert stat.S_IMODE(target.stat().st_mode) == 0o644


def test_a_link_is_replaced_and_what_it_led_to_is_left_alone(tmp_path: Path) -> None:
    elsewhere, target = tmp_path / "elsewhere", tmp_path / "report.json"
    elsewhere.write_bytes(b"keep")
    target.symlink_to(elsewhere)
    write_atomically(target, b"new")
    assert elsewhere.read_bytes() == b"keep"
    assert not target.is_symlink()


def test_a_folder_in_the_way_is_an_error_and_leaves_no_litter(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.mkdir()
    with pytest.raises(OSError, match="directory"):
        write_atomically(target, b"x")
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("linked", [False, True], ids=["itself", "by a link"])
def test_a_device_or_a_pipe_is_never_replaced(tmp_path: Path, *, linked: bool) -> None:
    """As root, a report to /dev/stdout or /dev/null would replace it for the whole machine."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)

    with pytest.raises(OSError, match="not a regular file"):
        write_atomically(link if linked else pipe, b"new")

    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert link.is_symlink()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link", "pipe"]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "nowhere" / "report.json", b"x")


def test_a_full_disk_leaves_the_old_file_whole_and_no_litter(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    write_atomically(target, b"old")
    outcome = run(
        """
        import resource, sys
        from pathlib import Path
        from shared.files import write_atomically
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            write_atomically(Path(sys.argv[1]), b"x" * 100_000)
        except OSError as error:
            print(error.strerror)
        """,
        target,
    )
    assert outcome.stdout.strip() == "File too large", outcome.stderr
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_crash_between_writing_and_renaming_leaves_the_old_file_whole(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    write_atomically(target, b"old")
    outcome = run(
        """
        import os, signal, sys
        from pathlib import Path
        from shared.files import write_atomically
        Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        write_atomically(Path(sys.argv[1]), b"new")
        """,
        target,
    )
    assert outcome.returncode == -signal.SIGKILL, outcome.stderr
    assert target.read_bytes() == b"old"
    (left,) = set(tmp_path.iterdir()) - {target}
    assert left.name.startswith("."), "what a crash leaves behind must not look like a report"
    write_atomically(target, b"new")
    assert target.read_bytes() == b"new"
