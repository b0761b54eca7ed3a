"""The operator in a process that is killed by SIGKILL as soon as the API server has accepted one write of it."""

import asyncio
import os
import signal
from collections.abc import Mapping
from typing import Any

from dpu_bridge import settings
from dpu_bridge.operator.running import operate
from shared.kubernetes import KubernetesClient, Object, access_source


class OneWrite(KubernetesClient):
    """Events do not count: nothing follows from them."""

    async def _call(self, what: str, method: str, *args: Any, **request: Any) -> Object:
        answer = await super()._call(what, method, *args, **request)
        if method != "GET" and "Event" not in what:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer


def live_and_die(environment: Mapping[str, str]) -> None:
    """Lives on when there is nothing left to write."""
    asyncio.run(_operate(environment))


async def _operate(environment: Mapping[str, str]) -> None:
    chosen = settings.read(environment)
    async with OneWrite(access_source(chosen.kubeconfig)) as client:
        await operate(client, chosen)
