"""Tokens and certificates that change under a running process."""

import os
from pathlib import Path

import pytest

from shared.errors import Misconfigured
from shared.network.credential_files import TokenFile, Watched


def put(path: Path, content: str) -> Path:
    """Replace the file as Kubernetes does: a new file under the old name."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(content)
    fresh.replace(path)
    return path


class TestWatched:
    def test_nothing_has_changed_at_first_and_each_change_is_reported_once(self, tmp_path: Path) -> None:
        watched = Watched([put(tmp_path / "a", "1"), put(tmp_path / "b", "1"), None])
        assert not watched.changed()
        put(tmp_path / "b", "2")
        assert watched.changed()
        assert not watched.changed()

    def test_going_and_coming_are_changes(self, tmp_path: Path) -> None:
        path = tmp_path / "a"
        watched = Watched([path])
        assert not watched.changed()
        put(path, "1")
        assert watched.changed()
        path.unlink()
        assert watched.changed()

    def test_a_link_that_is_pointed_elsewhere_is_a_change(self, tmp_path: Path) -> None:
        for folder in ("first", "second"):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "token").write_text("same")
        (tmp_path / "..data").symlink_to("first")
        (tmp_path / "token").symlink_to("..data/token")
        watched = Watched([tmp_path / "token"])
        (tmp_path / "..data.new").symlink_to("second")
        (tmp_path / "..data.new").replace(tmp_path / "..data")
        assert watched.changed()

    def test_a_change_that_keeps_length_and_modification_time_is_seen(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a", "old")
        watched = Watched([path])
        times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
        path.write_text("new")
        os.utime(path, ns=times)
        assert watched.changed()

    def test_without_files_nothing_ever_changes(self) -> None:
        assert not Watched([None, None]).changed()


class TestTheToken:
    def test_it_is_trimmed_and_made_a_header(self, tmp_path: Path) -> None:
        assert TokenFile(put(tmp_path / "token", " \nabc.def\r\n")).header == "Bearer abc.def"

    def test_a_new_one_is_used_from_the_next_call_on(self, tmp_path: Path) -> None:
        token = TokenFile(put(tmp_path / "token", "one"))
        put(tmp_path / "token", "two")
        assert token.header == "Bearer two"

    @pytest.mark.parametrize(
        "spoil",
        [
            pytest.param(Path.unlink, id="gone"),
            pytest.param(lambda path: path.write_bytes(b""), id="empty"),
            pytest.param(lambda path: path.write_bytes(b" \n"), id="blank"),
            pytest.param(lambda path: path.write_bytes(b"\xff\xfe"), id="no text"),
            pytest.param(lambda path: path.write_bytes(b"one\nauthorization: two"), id="two lines"),
            pytest.param(lambda path: (path.unlink(), path.mkdir()), id="a folder"),
        ],
    )
    def test_the_last_good_one_serves_while_the_file_is_spoilt_and_the_next_good_one_after(
        self, tmp_path: Path, spoil: object
    ) -> None:
        path = put(tmp_path / "token", "good")
        token = TokenFile(path)
        assert callable(spoil)
        spoil(path)
        assert token.header == "Bearer good"
        assert token.header == "Bearer good"
        if path.is_dir():
            path.rmdir()
        put(path, "better")
        assert token.header == "Bearer better"

    @pytest.mark.parametrize("content", [None, b"", b"\n", b"\xff", b"a b", b"a\nb", "tökén".encode()], ids=repr)
    def test_without_a_good_one_at_the_start_there_is_no_start(self, tmp_path: Path, content: bytes | None) -> None:
        path = tmp_path / "token"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(Misconfigured, match=str(path)) as refusal:
            TokenFile(path)
        assert "a b" not in str(refusal.value)
