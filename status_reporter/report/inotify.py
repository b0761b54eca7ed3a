"""Change events of a folder from the kernel: inotify, through the C library Python already has."""

import ctypes
import os
import select
from pathlib import Path
from types import TracebackType
from typing import Self

_CLOEXEC_NONBLOCK = os.O_CLOEXEC | os.O_NONBLOCK
_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED_TO, _CREATE = 0x2, 0x4, 0x8, 0x80, 0x100
_INTERESTING = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_TO | _CREATE
_BUFFER = 64 * 1024


class FolderWatch:
    """Changes in one folder. Raises OSError where the folder is missing or the kernel has no watch left."""

    def __init__(self, folder: Path) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        self._descriptor = _checked(library.inotify_init1(_CLOEXEC_NONBLOCK))
        try:
            _checked(library.inotify_add_watch(self._descriptor, os.fsencode(folder), _INTERESTING))
        except OSError:
            os.close(self._descriptor)
            raise

    def wait(self, seconds: float) -> bool:
        """Whether anything changed within that time. The kind of change does not matter: the file is read anyway."""
        readable, _, _ = select.select([self._descriptor], [], [], seconds)
        if readable:
            os.read(self._descriptor, _BUFFER)
        return bool(readable)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
