"""Approves the certificate requests of one hosted cluster: a watch there that is restarted whatever happens to it.

A request is decided when it appears, and again when its DPU or its Node changes. DPU and Node are read anew for each
decision, so that no approval rests on what was true before. Nodes are watched only while requests are pending: each
watch is a connection, and there may be hundreds of hosted clusters.
"""

import asyncio
import base64
import contextlib
from collections.abc import Callable

from dpu_bridge.api.bridge import Bridge
from dpu_bridge.api.conditions import APPROVING
from dpu_bridge.api.kinds import CERTIFICATES, DPF, FIELD_MANAGER
from dpu_bridge.certificates import Approve, Decision, Deny, Dpu, Ignore, Node, Pending, Request, decide, request_of
from dpu_bridge.certificates.decision import hostname_of
from dpu_bridge.operator.events import emit
from dpu_bridge.operator.kubeconfig import KubeconfigAccess
from dpu_bridge.operator.metrics import Metrics
from dpu_bridge.operator.reconcile.observing import is_ready
from dpu_bridge.plan import ApproverState, Notice
from dpu_bridge.plan.mirroring import reported
from shared import logs, times
from shared.backoff import Backoff
from shared.errors import Conflict, HyperFleetError, Misconfigured, NotFound
from shared.kubernetes import Change, KubernetesClient, Object, ObjectRef, Selection, Watch, version_of
from shared.model.conditions import Status, find

RESTART = Backoff(first=1.0, longest=60.0, spread=0.5)
# How often the health of the watch is looked at.
HEALTH_SECONDS = 10.0
ACTIVE = ApproverState(is_active=True, reason="Active", message="Certificate requests are watched")
STARTING = ApproverState(reason="Starting", message="Connecting to the hosted cluster")
log = logs.get(__name__)


class Approver:
    """`changed` is called whenever `state` changes. `bridge` may be replaced by a newer version of it."""

    def __init__(
        self,
        management: KubernetesClient,
        bridge: Bridge,
        *,
        access: KubeconfigAccess,
        metrics: Metrics,
        changed: Callable[[], None],
    ) -> None:
        self.bridge = bridge
        self.state = ACTIVE if was_active(bridge) else STARTING
        self._management, self._access, self._metrics, self._changed = management, access, metrics, changed
        self._pending: dict[str, Object] = {}
        self._is_pending = asyncio.Event()
        self._published: dict[str, str] = {}
        self._again: asyncio.Queue[str] = asyncio.Queue()

    def use_kubeconfig(self, data: str) -> None:
        """`data` is base64, as in its Secret."""
        self._access.use(base64.b64decode(data))

    def wake(self, hostname: str) -> None:
        """Judge the pending requests of this host again."""
        self._again.put_nowait(hostname)

    async def run(self) -> None:
        failures = 0
        while True:
            try:
                await self._access.current()
                async with KubernetesClient(self._access, user_agent=FIELD_MANAGER) as hosted:
                    await self._approve(hosted)
            except* Misconfigured as errors:
                self._set(ApproverState(reason="KubeconfigNotUsable", message=_first(errors)))
            except* (HyperFleetError, OSError) as errors:
                self._set(ApproverState(reason="HostedClusterNotReachable", message=_first(errors)))
            except* Exception as errors:
                log.exception("the watch for certificate requests failed", bridge="/".join(self.bridge.key))
                self._set(ApproverState(reason="InternalError", message=_first(errors)))
            await asyncio.sleep(RESTART.delay(failures))
            failures += 1

    async def _approve(self, hosted: KubernetesClient) -> None:
        requests = Watch(hosted, Selection(api_version=CERTIFICATES, kind="CertificateSigningRequest"))
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow_requests(hosted, requests))
            group.create_task(self._follow_nodes(hosted))
            group.create_task(self._decide_again(hosted))
            group.create_task(self._report(requests))

    async def _follow_requests(self, hosted: KubernetesClient, watch: Watch) -> None:
        async for event in watch.events():
            name = str(event.object["metadata"]["name"])
            if event.change is Change.DELETED:
                self._forget(name)
            else:
                await self._consider(hosted, event.object)

    async def _follow_nodes(self, hosted: KubernetesClient) -> None:
        """A watch begins with all Nodes, so that no change between a decision and the watch is missed."""
        while True:
            await self._is_pending.wait()
            watch = Watch(hosted, Selection(api_version="v1", kind="Node"))
            async with contextlib.aclosing(watch.events()) as events:
                async for event in events:
                    if not self._pending:
                        break
                    self.wake(str(event.object["metadata"]["name"]))
            if not self._pending:
                self._is_pending.clear()

    async def _decide_again(self, hosted: KubernetesClient) -> None:
        while True:
            hostname = await self._again.get()
            for document in list(self._pending.values()):
                if hostname_of(request_of(document)) == hostname:
                    await self._consider(hosted, document)

    async def _report(self, watch: Watch) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HEALTH_SECONDS):
                await watch.synced.wait()
        while True:
            if watch.healthy:
                self._set(ACTIVE)
            else:
                message = "The hosted cluster does not answer; the watch is tried again"
                self._set(ApproverState(reason="HostedClusterNotReachable", message=message))
            await asyncio.sleep(HEALTH_SECONDS)

    async def _consider(self, hosted: KubernetesClient, document: Object) -> None:
        """Failures other than being overtaken leave the request pending, to be decided again later."""
        request = request_of(document)
        try:
            verdict = await self._verdict(hosted, request)
            await self._act(hosted, document, request, verdict)
        except (Conflict, NotFound):
            self._forget(request.name)
        except HyperFleetError as error:
            self._keep(request.name, document)
            log.warning("cannot decide a certificate request", request=request.name, error=str(error))
            asyncio.get_running_loop().call_later(HEALTH_SECONDS, self.wake, hostname_of(request))

    async def _verdict(self, hosted: KubernetesClient, request: Request) -> Decision:
        cluster = self.bridge.dpu_cluster
        first = decide(request, dpu=None, node=None, dpu_cluster=cluster, denies=self.bridge.denies_suspicious)
        if not isinstance(first, Pending) or first.is_suspicious:
            return first
        hostname = hostname_of(request)
        dpu = await _read(self._management, ObjectRef(api_version=DPF, kind="DPU", namespace=cluster[0], name=hostname))
        node = await _read(hosted, ObjectRef(api_version="v1", kind="Node", name=hostname))
        return decide(
            request,
            dpu=dpu_of(dpu) if dpu else None,
            node=node_of(node) if node else None,
            dpu_cluster=cluster,
            denies=self.bridge.denies_suspicious,
        )

    async def _act(self, hosted: KubernetesClient, document: Object, request: Request, verdict: Decision) -> None:
        match verdict:
            case Ignore():
                self._forget(request.name)
                return
            case Approve(_, reason, message):
                await _write_condition(hosted, document, "Approved", reason, message)
                self._forget(request.name)
            case Deny(reason, message):
                await _write_condition(hosted, document, "Denied", reason, message)
                self._forget(request.name)
            case Pending():
                self._keep(request.name, document)
        await self._publish(request, verdict)

    async def _publish(self, request: Request, verdict: Approve | Deny | Pending) -> None:
        """Once per request and reason: it may be decided often."""
        if self._published.get(request.name) == verdict.reason:
            return
        if isinstance(verdict, Pending):
            self._published[request.name] = verdict.reason
        match verdict:
            case Approve():
                decision, reason = "approve", "CSRApproved"
            case Deny():
                decision, reason = "deny", "CSRDenied"
            case Pending(is_suspicious=True):
                decision, reason = "suspicious", "CSRSuspicious"
            case _:
                decision, reason = "pending", "CSRPending"
        self._metrics.requests.labels(*self.bridge.key, decision, verdict.reason).inc()
        message = f"{request.name} of {request.username}: {verdict.reason}: {verdict.message}"
        is_warning = decision in ("deny", "suspicious")
        await emit(self._management, self.bridge, Notice(reason=reason, message=message, is_warning=is_warning))

    def _keep(self, name: str, document: Object) -> None:
        self._pending[name] = document
        self._is_pending.set()

    def _forget(self, name: str) -> None:
        self._pending.pop(name, None)
        self._published.pop(name, None)

    def _set(self, state: ApproverState) -> None:
        self._metrics.approvers.labels(*self.bridge.key).set(state.is_active)
        if state != self.state:
            self.state = state
            self._changed()


def was_active(bridge: Bridge) -> bool:
    """After a restart of the operator a bridge stays Ready, unless the hosted cluster turns out not to answer."""
    before = find(reported({"status": bridge.previous}), APPROVING)
    return before is not None and before.status is Status.TRUE


def dpu_of(document: Object) -> Dpu:
    cluster = (document.get("spec") or {}).get("cluster") or {}
    status = document.get("status") or {}
    return Dpu(
        name=str(document["metadata"]["name"]),
        cluster=(str(cluster.get("namespace") or ""), str(cluster.get("name") or "")),
        phase=str(status.get("phase") or ""),
        addresses=frozenset(str(each.get("address")) for each in status.get("addresses") or ()),
        is_deleting=bool(document["metadata"].get("deletionTimestamp")),
    )


def node_of(document: Object) -> Node:
    addresses = (document.get("status") or {}).get("addresses") or ()
    return Node(
        name=str(document["metadata"]["name"]),
        is_ready=is_ready(document),
        addresses=frozenset(str(each.get("address")) for each in addresses),
    )


async def _write_condition(hosted: KubernetesClient, document: Object, type_: str, reason: str, message: str) -> None:
    """On the version that was read; the content of a request never changes, its conditions might."""
    now = times.to_seconds(times.now())
    condition = {"type": type_, "status": "True", "reason": reason, "message": message, "lastUpdateTime": now}
    conditions = [*((document.get("status") or {}).get("conditions") or ()), condition]
    body = {"metadata": {"resourceVersion": version_of(document)}, "status": {"conditions": conditions}}
    await hosted.patch(ObjectRef.of(document), body, subresource="approval")


async def _read(client: KubernetesClient, ref: ObjectRef) -> Object | None:
    try:
        return await client.get(ref)
    except NotFound:
        return None


def _first(errors: BaseExceptionGroup[BaseException]) -> str:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
