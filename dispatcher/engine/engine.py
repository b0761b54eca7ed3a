"""The engine: one adapter over its ports, one run at a time for each object, any number of objects at once.

    params ─▶ preconditions ─▶ resources ─▶ post
       └───────────┴───── failed, not met ────▲

Post-actions always run.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from dispatcher.config.compiled import Adapter
from dispatcher.engine.params import extract_params
from dispatcher.engine.ports import Ports
from dispatcher.engine.post.actions import execute_actions
from dispatcher.engine.post.observed_times import ObservedTimes
from dispatcher.engine.post.payloads import build_payloads, compile_payloads
from dispatcher.engine.post.sending import StatusSender
from dispatcher.engine.preconditions import check_preconditions
from dispatcher.engine.resources.phase import ResourcesPhase
from dispatcher.engine.running import Failure, Run
from dispatcher.engine.runs import (
    ParamRecord,
    PayloadRecord,
    Phase,
    PostActionRecord,
    PreconditionRecord,
    RunRequest,
    RunResult,
)

SILENCE_SECONDS = 180.0
"""How long a fresh Job may take until its first condition, before a run reports without it."""

Spans = Callable[[Phase], AbstractContextManager[object]]
"""What surrounds each phase: spans of a tracer, for example."""


_NOTHING: AbstractContextManager[object] = nullcontext()


def _no_span(_: Phase) -> AbstractContextManager[object]:
    return _NOTHING


class Engine:
    """Keeps nothing of a run but the times that were reported."""

    def __init__(
        self, adapter: Adapter, ports: Ports, *, silence: float = SILENCE_SECONDS, spans: Spans = _no_span
    ) -> None:
        self.adapter = adapter
        self._ports = ports
        self._silence = silence
        self._spans = spans
        self._environment = dict(ports.environment)
        self._payloads = compile_payloads(adapter.payloads)
        self._observed_times = ObservedTimes()

    async def run(self, request: RunRequest) -> RunResult:
        """Never raises for what configurations, objects and other systems can do wrong."""
        run = Run(self.adapter, self._ports, request, self._environment)
        params: list[ParamRecord] = []
        preconditions: list[PreconditionRecord] = []
        resources = ResourcesPhase(run)
        with self._phase(run, Phase.PARAMS):
            complete = await extract_params(run, params)
        if complete:
            with self._phase(run, Phase.PRECONDITIONS):
                met = await check_preconditions(run, preconditions)
            if met:
                with self._phase(run, Phase.RESOURCES):
                    await resources.execute()
        payloads: list[PayloadRecord] = []
        actions: list[PostActionRecord] = []
        with self._phase(run, Phase.POST_ACTIONS):
            await self._post(run, resources, payloads, actions)
        return RunResult(
            status=run.metadata.status,
            skipped=run.metadata.skipped,
            skip_reason=run.metadata.skip_reason,
            errors=run.errors,
            failed_expressions=run.failed_expressions,
            transient=run.transient,
            params=tuple(params),
            preconditions=tuple(preconditions),
            resources=tuple(resources.records),
            discovered=run.variables.resources,
            payloads=tuple(payloads),
            post_actions=tuple(actions),
            warnings=tuple(run.warnings),
            requeue=run.requeue,
            awaited_deletions=tuple(run.awaited),
            secrets=frozenset(run.secrets),
        )

    def _phase(self, run: Run, phase: Phase) -> AbstractContextManager[object]:
        run.phase = phase
        return self._spans(phase)

    async def _post(
        self, run: Run, resources: ResourcesPhase, payloads: list[PayloadRecord], actions: list[PostActionRecord]
    ) -> None:
        try:
            payloads.extend(build_payloads(run, self._payloads))
        except Failure as error:
            run.fail(Phase.POST_ACTIONS, "build_payloads", error)
            return
        skipped = frozenset(payload.name for payload in payloads if payload.text is None)
        sender = StatusSender(run, tuple(resources.records), self._observed_times, self._silence)
        await execute_actions(run, sender, skipped, actions)
