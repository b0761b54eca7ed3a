"""What a program left: processes that still have the TMPDIR they were started with."""

from contextlib import suppress
from pathlib import Path


def processes_with(folder: Path) -> list[str]:
    """The command lines of all processes whose TMPDIR is `folder`."""
    marker = f"TMPDIR={folder}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if marker in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_text().replace("\0", " "))
    return found
