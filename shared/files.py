"""Writing a file so that a reader sees all of it or none of it, even over a crash."""

import contextlib
import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Put `content` at `path` by a synced temporary file in the same folder and a rename.

    The folder is synced too, so a report that was told as written is there after a power cut.
    """
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
