"""One pass of a bridge: read it, observe, plan, carry out."""

import time
from dataclasses import replace

from dpu_bridge.api.bridge import Bridge, Key, bridge_of
from dpu_bridge.api.kinds import ADMIN_KUBECONFIG_KEY, API_VERSION, KIND
from dpu_bridge.operator.approval.approvers import Approvers
from dpu_bridge.operator.events import emit
from dpu_bridge.operator.metrics import Metrics
from dpu_bridge.operator.reconcile.carrying_out import carry_out
from dpu_bridge.operator.reconcile.observing import Observer, admin_kubeconfig_name
from dpu_bridge.operator.reconcile.queue import NEVER
from dpu_bridge.operator.reconcile.secret_watches import SecretWatches
from dpu_bridge.plan import Observed, PlanSettings, plan
from dpu_bridge.plan.binding import claim_of
from shared.errors import NotFound
from shared.kubernetes import KubernetesClient, ObjectRef


class Reconciler:
    def __init__(
        self,
        client: KubernetesClient,
        observer: Observer,
        *,
        settings: PlanSettings,
        approvers: Approvers,
        secrets: SecretWatches,
        metrics: Metrics,
    ) -> None:
        self._client, self._observer, self._settings = client, observer, settings
        self._approvers, self._secrets, self._metrics = approvers, secrets, metrics

    async def reconcile(self, key: Key) -> float | None:
        """Raises what kept it from being complete."""
        started, result = time.perf_counter(), "failed"
        try:
            look_again = await self._pass(key)
            result = "done"
        finally:
            self._metrics.passes.labels(result).inc()
            self._metrics.pass_seconds.observe(time.perf_counter() - started)
        return look_again

    async def _pass(self, key: Key) -> float | None:
        try:
            ref = ObjectRef(api_version=API_VERSION, kind=KIND, namespace=key[0], name=key[1])
            bridge = bridge_of(await self._client.get(ref))
        except NotFound:
            self._forget(key)
            return NEVER
        found = await self._observer.observe(bridge)
        self._follow(found)
        observed = replace(found, approver=self._approvers.state(key))
        made = plan(observed, self._settings)
        self._metrics.set_phase(key, str(made.members.get("phase") or bridge.previous.get("phase") or "Pending"))
        for notice in made.notices:
            await emit(self._client, bridge, notice)
        await carry_out(self._client, bridge, made, observed.now)
        return made.look_again

    def _follow(self, observed: Observed) -> None:
        """Watch what this bridge reads, and the hosted cluster while the DPUCluster is this bridge's."""
        bridge, cluster = observed.bridge, observed.hosted_cluster
        self._secrets.follow(
            bridge.key, set() if bridge.deleted else _read_secrets(bridge, admin_kubeconfig_name(cluster))
        )
        data = str(((observed.admin_kubeconfig or {}).get("data") or {}).get(ADMIN_KUBECONFIG_KEY) or "")
        is_ours = observed.dpu_cluster is not None and claim_of(observed.dpu_cluster) == bridge.key
        if data and is_ours and bridge.deleted is None:
            self._approvers.ensure(bridge, data)
        else:
            self._approvers.stop(bridge.key)

    def _forget(self, key: Key) -> None:
        self._approvers.stop(key)
        self._secrets.follow(key, set())
        self._metrics.set_phase(key, "")


def _read_secrets(bridge: Bridge, admin_kubeconfig: str) -> set[Key]:
    names = (bridge.ssh_key.secret, bridge.pull_secret.secret, admin_kubeconfig)
    return {(bridge.namespace, name) for name in names if name}
