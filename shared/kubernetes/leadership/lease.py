"""Leader election: of all processes that ask for a Lease, at most one runs its work at a time.

    lease = Lease(client, name="hyperfleet-adapter-x", namespace=ns, identity=pod_name)
    await lease.lead(work)      # until cancelled; `work` runs while, and only while, the Lease is held

A refused connection, an API server that is away or a right that is missing never ends it: it goes on trying. The
holder stops its work before anybody else may take the Lease, and gives it back when it is cancelled.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable

from shared.errors import AlreadyExists, Conflict, HyperFleetError, NotFound
from shared.kubernetes.client import KubernetesClient
from shared.kubernetes.leadership import election
from shared.kubernetes.leadership.clock import Clock, SystemClock
from shared.kubernetes.leadership.election import Observation, Record
from shared.kubernetes.objects import Object, ObjectRef

DURATION_SECONDS = 10.0
RENEW_SECONDS = 2.0
CALL_SECONDS = 3.0

log = logging.getLogger(__name__)


class Lease:
    """`identity` must be unique among those who ask: the pod's name. Times are seconds."""

    def __init__(
        self,
        client: KubernetesClient,
        *,
        name: str,
        namespace: str,
        identity: str,
        duration: float = DURATION_SECONDS,
        renew_every: float = RENEW_SECONDS,
        clock: Clock | None = None,
    ) -> None:
        self.identity = identity
        self._client = client
        self._ref = ObjectRef(api_version=election.API_VERSION, kind=election.KIND, name=name, namespace=namespace)
        self._duration, self._renew_every = duration, renew_every
        self._clock: Clock = clock or SystemClock()
        self._observed: Observation | None = None
        self._stored: Object | None = None
        self._held_until = 0.0

    @property
    def is_held(self) -> bool:
        return self._clock.monotonic() < self._held_until

    @property
    def holder(self) -> str:
        """Who held it when it was last read; "" for nobody, or not known."""
        return self._observed.record.holder if self._observed else ""

    async def lead(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` whenever the Lease is ours. Ends when `work` does: with its error, if it fails."""
        while True:
            await self._acquire()
            log.info("leading: %s holds %s", self.identity, self._ref)
            running = asyncio.ensure_future(work())
            try:
                await self._keep_until_lost_or(running)
            finally:
                await _stop(running)
                await self._release()
            if running.done() and not running.cancelled():
                return running.result()
            log.warning("no longer leading: %s lost %s", self.identity, self._ref)

    async def _acquire(self) -> None:
        while not await self._attempt("take"):
            await self._clock.sleep(self._renew_every * random.uniform(0.8, 1.2))  # noqa: S311 - no secret

    async def _keep_until_lost_or(self, running: asyncio.Future[None]) -> None:
        """Return when the work has ended, or when the Lease is no longer surely ours."""
        while self.is_held:
            pause = asyncio.ensure_future(self._clock.sleep(min(self._renew_every, self._seconds_left())))
            try:
                await asyncio.wait([pause, running], return_when=asyncio.FIRST_COMPLETED)
            finally:
                await _stop(pause)
            if running.done() or not self.is_held:
                return
            renewed = await self._attempt("renew", timeout=min(CALL_SECONDS, self._seconds_left()))
            if not renewed and self.holder not in ("", self.identity):
                self._held_until = 0.0

    def _seconds_left(self) -> float:
        return max(0.0, self._held_until - self._clock.monotonic())

    async def _attempt(self, verb: str, *, timeout: float = CALL_SECONDS) -> bool:
        try:
            async with asyncio.timeout(timeout):
                return await self._take()
        except (HyperFleetError, TimeoutError) as error:
            log.warning("cannot %s %s, trying again: %s", verb, self._ref, error)
            return False

    async def _take(self) -> bool:
        """Whether the Lease is ours after this. A holder writes without reading, as long as nobody else has written."""
        started = self._clock.monotonic()
        if self._stored is None or not self.is_held:
            await self._read()
        now, before = self._clock.monotonic(), self._observed
        if before is not None and not before.is_free_for(self.identity, now):
            return False
        record = before.record if before else None
        spec = election.held_by(self.identity, record, duration=self._duration, now=self._clock.now())
        try:
            await self._write(spec)
        except (Conflict, AlreadyExists, NotFound):
            self._stored = None
            await self._read()
            return False
        # Others wait for the whole duration after they see this; stopping one renewal earlier leaves time to stop.
        self._held_until = started + self._duration - self._renew_every
        return True

    async def _read(self) -> None:
        try:
            self._remember(await self._client.get(self._ref, timeout=CALL_SECONDS))
        except NotFound:
            self._stored = self._observed = None

    async def _write(self, spec: Object) -> None:
        if self._stored is None:
            new = election.first(self._ref.name, self._ref.namespace, spec)
            self._remember(await self._client.create(new))
        else:
            self._remember(await self._client.replace({**self._stored, "spec": spec}, timeout=CALL_SECONDS))

    def _remember(self, lease: Object) -> None:
        self._stored, record, now = lease, Record.of(lease), self._clock.monotonic()
        self._observed = self._observed.updated(record, now) if self._observed else Observation(record, now)

    async def _release(self) -> None:
        """Nothing depends on it but the time the next holder waits."""
        held, self._held_until = self.is_held, 0.0
        if not held or self._observed is None:
            return
        try:
            async with asyncio.timeout(CALL_SECONDS):
                await self._give_back()
            log.info("gave back %s", self._ref)
        except (HyperFleetError, TimeoutError) as error:
            log.warning("cannot give back %s; it expires by itself: %s", self._ref, error)
        finally:
            self._stored = None

    async def _give_back(self) -> None:
        """A renewal that was cancelled may have been stored: then the Lease is read again."""
        try:
            await self._write_released()
        except Conflict:
            await self._read()
            if self.holder == self.identity:
                await self._write_released()

    async def _write_released(self) -> None:
        assert self._observed is not None
        await self._write(election.released(self._observed.record, now=self._clock.now()))


async def _stop(task: asyncio.Future[None]) -> None:
    """Cancelled and ended; its own failure, if it has one, stays in it."""
    task.cancel()
    await asyncio.wait([task])
