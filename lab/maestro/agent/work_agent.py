"""A simulated work agent of a management cluster.

It speaks the agents' side of the protocol, to the stand-in and to the real Maestro: it subscribes, resyncs, takes works
and reports their status as its script says.
"""

import asyncio
import contextlib
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Any, Self

import grpc
import grpc.aio

from lab.maestro.agent import agent_status
from lab.maestro.agent.agent_status import AgentStatus, Held, Key, Script
from shared import times
from shared.maestro.wire import cloudevent_pb2 as wire
from shared.maestro.wire.cloudevent_pb2_grpc import CloudEventServiceStub
from shared.maestro.wire.codec import DATA_TYPE, HEARTBEAT_TYPE, JSON_CONTENT, Envelope, compact, timestamp

SERVER_SOURCE = "maestro"
RECONNECT_SECONDS = 0.1
HEADER_GRACE_SECONDS = 0.5
# A call that waits in the server behind many others passes its deadline there, and is sent again behind them.
REPORTS_AT_ONCE = 4
_PUBLISH_SECONDS = 30
_SNOWFLAKE_EPOCH_MS = 1288834974657
_NODE = 1


class Agent:
    """One management cluster. `script` may be changed at any time; `held` has its works.

    A stuck deletion continues when `freed` is set. `works_changed` is set when a work arrives, changes or goes.
    """

    def __init__(self, address: str, consumer: str, script: Script | None = None) -> None:
        self.consumer = consumer
        self.script = script or Script()
        self.held: dict[str, Held] = {}
        self.connected = asyncio.Event()
        self.freed = asyncio.Event()
        self.works_changed = asyncio.Event()
        self._address = address
        self._objects: dict[Key, Mapping[str, Any]] = {}
        self._turns = asyncio.Semaphore(REPORTS_AT_ONCE)
        self._unreported: set[str] = set()
        self._reporting: set[str] = set()
        self._sequence = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self.come_online()
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.go_offline()

    async def come_online(self) -> None:
        """Connect, and return when the subscription is established."""
        self._task = asyncio.create_task(self._run(), name=f"agent-{self.consumer}")
        await self.connected.wait()

    async def go_offline(self) -> None:
        tasks, self._task = [*self._tasks, *([self._task] if self._task else [])], None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._reporting.clear()
        self.connected.clear()

    async def observe(self, kind: str, namespace: str, name: str, status: Mapping[str, Any]) -> None:
        """Set the status of an object on the cluster, and return when every work that contains it is reported."""
        for uid in self._set_status((kind, namespace, name), status):
            await self._report_until_sent(uid)

    def change(self, kind: str, namespace: str, name: str, status: Mapping[str, Any]) -> None:
        """Set the status of an object on the cluster, and report it later: of several changes the last one."""
        for uid in self._set_status((kind, namespace, name), status):
            self._unreported.add(uid)
            if uid not in self._reporting:
                self._reporting.add(uid)
                self._start(self._report_changes(uid))

    def _set_status(self, key: Key, status: Mapping[str, Any]) -> list[str]:
        """The ids of the works that contain the object."""
        found = []
        for held in self.held.values():
            for manifest in held.bundle.get("manifests") or ():
                if agent_status.identity(manifest) == key:
                    self._objects[key] = {**manifest, "status": status}
                    found.append(held.uid)
        return found

    async def _report_changes(self, uid: str) -> None:
        while uid in self._unreported:
            await self._report_until_sent(uid)
            if uid not in self.held:
                self._unreported.discard(uid)
        self._reporting.discard(uid)

    async def _report_until_sent(self, uid: str) -> None:
        await self._until_sent(uid, lambda: self._report_applied(uid))

    async def _until_sent(self, uid: str, send: Callable[[], Awaitable[None]]) -> None:
        """A server that is down or slow gets the report later."""
        while uid in self.held:
            try:
                async with self._turns:
                    return await send()
            except grpc.aio.AioRpcError:
                await asyncio.sleep(RECONNECT_SECONDS)
        return None

    async def report(
        self, uid: str, status: AgentStatus, *, version: int | None = None, sequence: int | None = None
    ) -> None:
        """Send this status of a work, whether it is true or not."""
        held = self.held[uid]
        number = held.version if version is None else version
        sequence_id = self._next_sequence() if sequence is None else sequence
        await self._publish(
            "status.update_request",
            {
                "resourceid": uid,
                "resourceversion": str(number) if self.script.text_versions else number,
                "sequenceid": str(sequence_id),
                "statushash": status.digest(),
                "originalsource": SERVER_SOURCE,
                "metadata": compact(held.metadata),
                "logtracing": "{}",
            },
            status.payload(),
        )
        if uid in self.held:  # which may be a newer version by now
            self.held[uid] = replace(self.held[uid], reported=status.conditions)

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(grpc.aio.AioRpcError):
                async with grpc.aio.insecure_channel(self._address, options=_OPTIONS) as channel:
                    self._stub = CloudEventServiceStub(channel)
                    await self._serve()
            self.connected.clear()
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _serve(self) -> None:
        request = wire.SubscriptionRequest(source=self._name, cluster_name=self.consumer, data_type=DATA_TYPE)
        call = self._stub.Subscribe(request)
        try:
            await self._await_headers(call)
            await self._ask_for_missed()
            self.connected.set()
            async for event in call:
                if event.type != HEARTBEAT_TYPE:
                    self._take(Envelope.from_proto(event))
        finally:
            call.cancel()

    async def _await_headers(self, call: Any) -> None:
        """Wait for the subscription's headers, so that no resync response is missed; old servers send none."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HEADER_GRACE_SECONDS):
                await asyncio.shield(asyncio.ensure_future(call.initial_metadata()))

    async def _ask_for_missed(self) -> None:
        versions = [{"resourceID": each.uid, "resourceVersion": each.version} for each in self.held.values()]
        await self._publish("spec.resync_request", {"originalsource": ""}, {"resourceVersions": versions})

    def _take(self, envelope: Envelope) -> None:
        self.works_changed.set()
        uid = envelope.text("resourceid")
        if "deletiontimestamp" in envelope.extensions:
            if uid not in self.held:
                self.held[uid] = Held(uid=uid, version=envelope.number("resourceversion"), metadata={}, bundle={})
            self.held[uid] = replace(self.held[uid], deleting=True, version=envelope.number("resourceversion"))
            self._start(self._remove(uid))
            return
        self.held[uid] = Held(
            uid=uid,
            version=envelope.number("resourceversion"),
            metadata=envelope.json("metadata"),
            bundle=envelope.payload,
            reported=self.held[uid].reported if uid in self.held else (),
        )
        self._start(self._put(uid))

    async def _put(self, uid: str) -> None:
        await asyncio.sleep(self.script.apply_after)
        held = self.held.get(uid)
        if held is None or held.deleting:
            return
        if self.script.stale_first and held.version > 1:
            await self.report(uid, agent_status.stale(held, times.now()))
        await self._report_until_sent(uid)

    async def _report_applied(self, uid: str) -> None:
        self._unreported.discard(uid)
        if uid not in self.held or self.held[uid].deleting:
            return
        status = agent_status.applied(self.held[uid], self._objects, self.script, times.now())
        sequence = self._next_sequence()
        await self.report(uid, status, sequence=sequence)
        if self.script.duplicate:
            await self.report(uid, status, sequence=sequence)
        if self.script.out_of_order:
            await self.report(uid, agent_status.stale(self.held[uid], times.now()), sequence=sequence - (1 << 22))

    async def _remove(self, uid: str) -> None:
        await self._until_sent(uid, lambda: self._report_deletion(uid, agent_status.deleting))
        await asyncio.sleep(self.script.delete_after)
        if self.script.stuck:
            await self.freed.wait()
        await self._until_sent(uid, lambda: self._report_deletion(uid, agent_status.deleted))
        self._forget(uid)

    async def _report_deletion(self, uid: str, status: Callable[[Held, datetime], AgentStatus]) -> None:
        if uid in self.held:
            await self.report(uid, status(self.held[uid], times.now()))

    def _forget(self, uid: str) -> None:
        removed = self.held.pop(uid, None)
        for manifest in (removed.bundle.get("manifests") or ()) if removed else ():
            self._objects.pop(agent_status.identity(manifest), None)
        self.works_changed.set()

    async def _publish(self, type_: str, extensions: Mapping[str, str | int], payload: Mapping[str, Any]) -> None:
        envelope = Envelope(
            id=str(uuid.uuid4()),
            source=self._name,
            type=f"{DATA_TYPE}.{type_}",
            extensions={"time": timestamp(times.now()), "clustername": self.consumer, **extensions},
            content_type=JSON_CONTENT,
            data=compact(payload).encode(),
        )
        await self._stub.Publish(wire.PublishRequest(event=envelope.to_proto()), timeout=_PUBLISH_SECONDS)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        async def tolerant() -> None:
            with contextlib.suppress(grpc.aio.AioRpcError):  # of a report that a script adds
                await work

        task = asyncio.create_task(tolerant())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # it never began where the agent stopped at once

    def _next_sequence(self) -> int:
        moment = ((time.time_ns() // 1_000_000 - _SNOWFLAKE_EPOCH_MS) << 22) | (_NODE << 12)
        self._sequence = max(self._sequence + 1, moment)
        return self._sequence

    @property
    def _name(self) -> str:
        return f"{self.consumer}-work-agent"


_OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.enable_retries", 0)]
