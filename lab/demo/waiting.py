"""Waiting for what a scenario is to show. Every wait is a milestone of the timeline, and ends at a deadline."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from lab.demo.timeline import Timeline

_LOOK_SECONDS = 0.1


class NotReached(RuntimeError):
    """Something did not happen in time; the text says what."""


async def until(
    what: str,
    reached: Callable[[], Awaitable[bool]],
    *,
    within: timedelta,
    timeline: Timeline,
    check: Callable[[], None],
) -> None:
    """`check` raises where a program of the lab has ended, so that nobody waits for it."""
    seconds = within.total_seconds()
    try:
        async with asyncio.timeout(seconds):
            while not await reached():
                check()
                await asyncio.sleep(_LOOK_SECONDS)
    except TimeoutError:
        raise NotReached(f"not within {seconds:g} s: {what}") from None
    timeline.reached(what)
