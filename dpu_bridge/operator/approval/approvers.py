"""The approvers of all bridges: one per hosted cluster whose kubeconfig is known."""

import asyncio
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from dpu_bridge.api.bridge import Bridge, Key
from dpu_bridge.operator.approval.approver import Approver
from dpu_bridge.operator.kubeconfig import KubeconfigAccess
from dpu_bridge.operator.metrics import Metrics
from dpu_bridge.plan import ApproverState
from shared.kubernetes import KubernetesClient


class Approvers:
    def __init__(
        self, management: KubernetesClient, wake: Callable[[Key], None], group: asyncio.TaskGroup, metrics: Metrics
    ) -> None:
        self._management, self._wake, self._group, self._metrics = management, wake, group, metrics
        self._running: dict[Key, tuple[Approver, asyncio.Task[None]]] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="dpu-bridge-")

    def close(self) -> None:
        self._folder.cleanup()

    def state(self, key: Key) -> ApproverState:
        return self._running[key][0].state if key in self._running else ApproverState()

    def ensure(self, bridge: Bridge, kubeconfig: str) -> None:
        """Watch this hosted cluster; `kubeconfig` is base64."""
        if bridge.key not in self._running:
            approver = Approver(
                self._management,
                bridge,
                access=KubeconfigAccess(self._certificates(bridge.key)),
                metrics=self._metrics,
                changed=lambda: self._wake(bridge.key),
            )
            self._running[bridge.key] = approver, self._group.create_task(approver.run())
        approver, _ = self._running[bridge.key]
        approver.bridge = bridge
        approver.use_kubeconfig(kubeconfig)

    def stop(self, key: Key) -> None:
        running = self._running.pop(key, None)
        if running is not None:
            running[1].cancel()
            self._metrics.forget_approver(key)
            shutil.rmtree(self._certificates(key), ignore_errors=True)

    def dpu_changed(self, cluster: Key, hostname: str) -> None:
        for approver, _ in self._running.values():
            if approver.bridge.dpu_cluster == cluster:
                approver.wake(hostname)

    def _certificates(self, key: Key) -> Path:
        return Path(self._folder.name) / ".".join(key)
