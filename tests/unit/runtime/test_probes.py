"""A system that runs need: ready while it answers."""

import asyncio

import pytest

from dispatcher.runtime import probes
from dispatcher.runtime.probes import Probe
from shared.errors import Forbidden, NotFound, Unavailable


def raising(error: Exception | None) -> Probe:
    async def call() -> None:
        if error is not None:
            raise error

    return Probe("kubernetes", call)


@pytest.mark.parametrize("error", [None, NotFound("x"), Forbidden("x")], ids=["good", "nothing there", "not allowed"])
async def test_an_answer_is_good(error: Exception | None) -> None:
    probe = raising(error)
    assert probe.problem
    await probe.ask()
    assert probe.problem == ""


async def test_no_answer_is_named() -> None:
    probe = raising(Unavailable("refused"))
    await probe.ask()
    assert probe.problem == "refused"


async def test_a_system_that_hangs_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "TIMEOUT_SECONDS", 0.01)

    async def hang() -> None:
        await asyncio.get_running_loop().create_future()

    probe = Probe("maestro", hang)
    await probe.ask()
    assert "no answer" in probe.problem
