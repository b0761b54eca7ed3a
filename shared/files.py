"""Writing a file so that a reader sees all of it or none of it, and reading one without waiting for a writer."""

import contextlib
import errno
import os
import stat
from pathlib import Path


def write_atomically(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Put `content` at `path` by a synced temporary file in the same folder and a rename.

    The folder is synced too, so that the file exists after a power cut. What is there and is no regular file, such as
    /dev/stdout, is not replaced: OSError.
    """
    _refuse_to_replace_a_device(path)
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise
    _sync_folder(path.parent)


def read_regular_file(path: Path, limit: int) -> bytes:
    """At most `limit` + 1 bytes of a file. Raises OSError, also for a pipe or a device, which could block for ever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        _require_regular(path, mode)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(limit + 1)
    finally:
        os.close(descriptor)


def _refuse_to_replace_a_device(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        _require_regular(path, path.stat().st_mode)


def _require_regular(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
