"""How many requests a second are let through."""

import asyncio

import pytest

from shared.kubernetes.http.rate_limit import RateLimit


class Times:
    """A clock that only sleeping moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.slept = 100.0, [0.0]
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: self.now)
        monkeypatch.setattr("shared.kubernetes.http.rate_limit.asyncio.sleep", self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))


async def waits(limit: RateLimit, requests: int, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long each of several requests that come at the same instant waits."""
    with monkeypatch.context() as patched:
        times = Times(patched)
        found = []
        for _ in range(requests):
            times.slept = [0.0]
            await limit.wait()
            found.append(times.slept[-1])
    return found


@pytest.mark.parametrize(
    ("qps", "burst", "expected"),
    [
        (0.0, 0, [0, 0, 0, 0]),
        (0.0, 5, [0, 0, 0, 0]),
        (10.0, 0, [0, 0.1, 0.2, 0.3]),
        (10.0, 1, [0, 0.1, 0.2, 0.3]),
        (10.0, 3, [0, 0, 0, 0.1]),
    ],
    ids=["no limit", "a burst means nothing alone", "no burst", "a burst of one", "a burst of three"],
)
async def test_requests_wait_for_their_turn(
    qps: float, burst: int, expected: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await waits(RateLimit(qps, burst), 4, monkeypatch) == pytest.approx(expected)
