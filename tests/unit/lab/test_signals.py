"""A signal to a process that has just ended does not hide how it ended."""

import asyncio
import os
import signal
import threading
from pathlib import Path

import pytest

from lab.signals import send_signal

TIMEOUT = 60.0


async def test_the_exit_code_of_a_process_that_ends_as_it_is_signalled_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    signalled, waitpid = threading.Event(), os.waitpid

    def late(pid: int, options: int) -> tuple[int, int]:
        """Asyncio's thread hears of the end after the signal."""
        signalled.wait(TIMEOUT)
        return waitpid(pid, options)

    monkeypatch.setattr(os, "waitpid", late)
    process = await asyncio.create_subprocess_exec("sh", "-c", "exit 7")
    async with asyncio.timeout(TIMEOUT):
        while _state(process.pid) != "Z":  # noqa: ASYNC110 - nobody may hear of its end yet
            await asyncio.sleep(0.01)
        send_signal(process, signal.SIGTERM)
        signalled.set()
        assert await process.wait() == 7


async def test_a_process_that_is_gone_is_not_signalled() -> None:
    process = await asyncio.create_subprocess_exec("true")
    assert await process.wait() == 0
    send_signal(process, signal.SIGKILL)
    assert process.returncode == 0


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
