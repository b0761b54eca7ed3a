"""A management cluster with bridges on it: what a test writes there, and what it waits for."""

import base64
import json
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import yaml

from dpu_bridge.api.kinds import API_VERSION, DPF, HYPERSHIFT, KIND
from shared.errors import AlreadyExists, NotFound
from shared.kubernetes import Change, KubernetesClient, Object, ObjectRef, PatchType, Watch, select_one
from tests.support.bridges import IMAGES, bridge_object
from tests.support.watches import following

CRD = Path(__file__).parents[2] / "charts" / "dpu-hcp-bridge" / "templates" / "dpuhcpbridges.crd.yaml"
OPERATOR_NAMESPACE, METALLB_NAMESPACE = "dpu-hcp-bridge", "metallb-system"


def bridge_definition() -> Object:
    definition: Object = yaml.safe_load(CRD.read_text())
    return definition


class BridgeLab:
    """One namespace for bridges and one for DPUClusters, both new."""

    def __init__(self, client: KubernetesClient, suffix: str) -> None:
        self.client = client
        self.namespace, self.dpf = f"clusters-{suffix}", f"dpf-{suffix}"

    async def prepare(self) -> None:
        for name in (self.namespace, self.dpf, OPERATOR_NAMESPACE, METALLB_NAMESPACE):
            await self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        images = {"name": "ocp-bluefield-images", "namespace": OPERATOR_NAMESPACE}
        await self.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": images, "data": IMAGES})
        await self.create(self.secret("ssh", {"id_rsa.pub": "ssh-ed25519 AAAA"}))
        await self.create(self.secret("pull", {".dockerconfigjson": json.dumps({"auths": {}})}))

    async def create(self, document: Object) -> None:
        try:
            await self.client.create(document)
        except AlreadyExists:
            return

    def secret(self, name: str, data: dict[str, str]) -> Object:
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
        metadata = {"name": name, "namespace": self.namespace}
        return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded}

    async def create_dpu_cluster(self, name: str = "bluefields") -> None:
        metadata = {"name": name, "namespace": self.dpf}
        spec = {"type": "example.com/hypershift"}
        await self.client.create({"apiVersion": DPF, "kind": "DPUCluster", "metadata": metadata, "spec": spec})

    async def create_bridge(self, name: str = "dpu", **changes: Any) -> Object:
        cluster = {"name": "bluefields", "namespace": self.dpf}
        return await self.client.create(bridge_object(name, self.namespace, **{"dpuClusterRef": cluster, **changes}))

    def bridge(self, name: str = "dpu") -> ObjectRef:
        return self.ref(API_VERSION, KIND, name)

    def hosted_cluster(self, name: str = "dpu") -> ObjectRef:
        return self.ref(HYPERSHIFT, "HostedCluster", name)

    def node_pool(self, name: str = "dpu") -> ObjectRef:
        return self.ref(HYPERSHIFT, "NodePool", name)

    def dpu_cluster(self, name: str = "bluefields") -> ObjectRef:
        return ObjectRef(api_version=DPF, kind="DPUCluster", namespace=self.dpf, name=name)

    def ref(self, api_version: str, kind: str, name: str) -> ObjectRef:
        return ObjectRef(api_version=api_version, kind=kind, namespace=self.namespace, name=name)

    async def patch(self, ref: ObjectRef, body: Object) -> None:
        await self.client.patch(ref, body, type_=PatchType.MERGE)

    async def read(self, ref: ObjectRef) -> Object | None:
        try:
            return await self.client.get(ref)
        except NotFound:
            return None

    async def until(self, ref: ObjectRef, reached: Callable[[Object], bool]) -> Object:
        """The object, once it satisfies `reached`. The deadline is the test's."""
        async with aclosing(Watch(self.client, select_one(ref)).events()) as events:
            async for event in events:
                if event.change is not Change.DELETED and reached(event.object):
                    return event.object
        raise AssertionError("a watch does not end")

    async def until_gone(self, ref: ObjectRef) -> None:
        async with following(Watch(self.client, select_one(ref))) as followed:
            await followed.until(lambda: not len(followed.watch.known))


def has(type_: str, *, status: str = "True", reason: str = "") -> Callable[[Object], bool]:
    """Whether an object has a condition."""

    def reached(document: Object) -> bool:
        conditions = (document.get("status") or {}).get("conditions") or ()
        return any(
            each["type"] == type_ and each["status"] == status and reason in ("", each["reason"]) for each in conditions
        )

    return reached
