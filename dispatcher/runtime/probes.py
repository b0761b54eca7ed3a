"""Whether a system that runs need answers, asked from time to time: readiness follows it in both directions."""

import asyncio
from collections.abc import Awaitable, Callable

from shared import logs
from shared.errors import Forbidden, HyperFleetError, NotFound

GOOD_SECONDS = 10.0
BAD_SECONDS = 2.0
TIMEOUT_SECONDS = 5.0

log = logs.get(__name__)


class Probe:
    """`problem` is "" while the last answer was good. An answer that refuses or finds nothing is an answer."""

    def __init__(self, name: str, call: Callable[[], Awaitable[object]]) -> None:
        self.name = name
        self.problem = "not asked yet"
        self._call = call

    async def run(self) -> None:
        while True:
            await self.ask()
            await asyncio.sleep(BAD_SECONDS if self.problem else GOOD_SECONDS)

    async def ask(self) -> None:
        before = self.problem
        self.problem = await self._ask()
        if self.problem and not before:
            log.warning("a system does not answer", system=self.name, error=self.problem)
        elif before and not self.problem:
            log.info("a system answers", system=self.name)

    async def _ask(self) -> str:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await self._call()
        except (NotFound, Forbidden):
            return ""
        except TimeoutError:
            return f"no answer in {TIMEOUT_SECONDS:g} s"
        except HyperFleetError as error:
            return str(error)
        return ""
