"""What kopf watches, and which bridges each event wakes. Handlers only wake; the work is the reconciler's.

kopf's indices answer what an event or a pass asks, without a list: which bridges name a DPUCluster, whether there is a
bridge of a name, and which BlueField images there are. kopf calls handlers only when all indices are complete.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import kopf

from dpu_bridge.api.bridge import Key, dpu_cluster_of, key_of
from dpu_bridge.api.kinds import DPF, GROUP, HYPERSHIFT, METALLB, OWNER_ANNOTATION, PLURAL, VERSION
from dpu_bridge.operator.approval.approvers import Approvers
from dpu_bridge.operator.reconcile.queue import WorkQueue
from dpu_bridge.plan import Contender
from shared import times

CONFIG_MAPS = ("", "v1", "configmaps")
OWNED = ((METALLB, "ipaddresspools"), (METALLB, "l2advertisements"))
Body = Mapping[str, Any]


class Handlers:
    """`images` names the ConfigMap of BlueField images. `indexed` is set when the indices are complete."""

    def __init__(self, queue: WorkQueue, approvers: Approvers, *, images: Key) -> None:
        self._queue, self._approvers, self._images_key = queue, approvers, images
        self.indexed = asyncio.Event()
        self._by_cluster: Mapping[Key, Any] = {}
        self._by_name: Mapping[Key, Any] = {}
        self._images: Mapping[Key, Any] = {}

    def contenders(self, cluster: Key) -> tuple[Contender, ...]:
        return tuple(self._by_cluster.get(cluster) or ())

    def images(self) -> dict[str, str] | None:
        """BlueField images by version; None where their ConfigMap is not there."""
        found = list(self._images.get(self._images_key) or ())
        return dict(found[0]) if found else None

    def registry(self) -> kopf.OperatorRegistry:
        registry = kopf.OperatorRegistry()
        kopf.on.startup(registry=registry)(self._started)
        kopf.index(GROUP, VERSION, PLURAL, id="by_cluster", registry=registry)(self._index_by_cluster)
        kopf.index(GROUP, VERSION, PLURAL, id="by_name", registry=registry)(self._index_by_name)
        kopf.index(*CONFIG_MAPS, id="images", registry=registry)(self._index_images)
        kopf.on.event(GROUP, VERSION, PLURAL, registry=registry)(self._bridge)
        kopf.on.event(*CONFIG_MAPS, registry=registry)(self._config_map)
        kopf.on.event(DPF, "dpuclusters", registry=registry)(self._dpu_cluster)
        kopf.on.event(DPF, "dpus", registry=registry)(self._dpu)
        for plural in ("hostedclusters", "nodepools"):
            kopf.on.event(HYPERSHIFT, plural, registry=registry)(self._namesake)
        for api_version, plural in OWNED:
            kopf.on.event(api_version, plural, registry=registry)(self._owned)
        return registry

    async def _started(self, **indices: Any) -> None:
        self._by_cluster, self._by_name, self._images = indices["by_cluster"], indices["by_name"], indices["images"]

    async def _index_by_name(self, body: Body, **_: Any) -> dict[Key, None]:
        return {key_of(body): None}

    async def _index_images(self, body: Body, **_: Any) -> dict[Key, dict[str, str]]:
        return {key_of(body): {str(key): str(value) for key, value in (body.get("data") or {}).items()}}

    async def _index_by_cluster(self, body: Body, **_: Any) -> dict[Key, Contender]:
        metadata = body["metadata"]
        contender = Contender(times.parse(metadata["creationTimestamp"]), str(metadata["uid"]), key_of(body))
        return {dpu_cluster_of(body["spec"]): contender}

    async def _bridge(self, body: Body, type: str | None, **_: Any) -> None:  # noqa: A002 - kopf's name
        """A bridge that appears or goes may change who has the DPUCluster."""
        self.indexed.set()
        self._queue.add(key_of(body))
        if type in ("ADDED", "DELETED"):
            self._wake_all(dpu_cluster_of(body["spec"]))

    async def _config_map(self, body: Body, **_: Any) -> None:
        if key_of(body) == self._images_key:
            for key in self._by_name:
                self._queue.add(key)

    async def _dpu_cluster(self, body: Body, **_: Any) -> None:
        self._wake_all(key_of(body))

    async def _dpu(self, body: Body, **_: Any) -> None:
        cluster = (body.get("spec") or {}).get("cluster") or {}
        key = str(cluster.get("namespace") or ""), str(cluster.get("name") or "")
        self._approvers.dpu_changed(key, str(body["metadata"]["name"]))

    async def _namesake(self, body: Body, **_: Any) -> None:
        """A HostedCluster or NodePool has its bridge's name. One of somebody else matters too: it is in the way."""
        if key_of(body) in self._by_name:
            self._queue.add(key_of(body))

    async def _owned(self, body: Body, **_: Any) -> None:
        wake_owner(self._queue, body)

    def _wake_all(self, cluster: Key) -> None:
        for each in self.contenders(cluster):
            self._queue.add(each.key)


def wake_owner(queue: WorkQueue, document: Body) -> None:
    """The bridge that an object's annotation names."""
    annotations = document["metadata"].get("annotations") or {}
    namespace, _, name = str(annotations.get(OWNER_ANNOTATION) or "").partition("/")
    if name:
        queue.add((namespace, name))
