"""The admission webhook: what kopf calls for every DPUHCPBridge that is created or changed."""

from typing import Any

import kopf

from dpu_bridge.admission.review import Images, problems
from dpu_bridge.api.bridge import dpu_cluster_of
from dpu_bridge.api.kinds import DPF, GROUP, PLURAL, VERSION
from dpu_bridge.settings import Settings
from shared.errors import HyperFleetError, NotFound
from shared.kubernetes import KubernetesClient, ObjectRef

# The path of the webhook's URL, which the chart names too.
PATH = "validate"
REFUSED = 422


class Webhook:
    def __init__(self, client: KubernetesClient, settings: Settings) -> None:
        self._client, self._settings = client, settings

    def register(self, registry: kopf.OperatorRegistry) -> None:
        kopf.on.validate(GROUP, VERSION, PLURAL, id=PATH, operations=["CREATE", "UPDATE"], registry=registry)(
            self._validate
        )

    async def _validate(self, *, body: kopf.Body, warnings: list[str], **more: Any) -> None:
        old = more.get("old")
        found = problems(body, old or None, await self._images(), files=str(self._settings.files))
        if found:
            raise kopf.AdmissionError("; ".join(map(str, found)), code=REFUSED)
        if not old:
            warnings += await self._missing(body)

    async def _images(self) -> Images:
        planning = self._settings.planning
        ref = ObjectRef(
            api_version="v1", kind="ConfigMap", namespace=planning.images_namespace, name=planning.images_name
        )
        try:
            found = await self._client.get(ref)
        except NotFound:
            return Images(data=None, where=str(ref))
        return Images(data={str(k): str(v) for k, v in (found.get("data") or {}).items()}, where=str(ref))

    async def _missing(self, body: kopf.Body) -> list[str]:
        """References to objects that are not there yet; one that cannot be read is no reason for a warning."""
        namespace, name = dpu_cluster_of(body["spec"])
        refs = [ObjectRef(api_version=DPF, kind="DPUCluster", namespace=namespace, name=name)]
        for field in ("sshKeySecretRef", "pullSecretRef"):
            if named := (body["spec"].get(field) or {}).get("name"):
                here = str(body["metadata"]["namespace"])
                refs.append(ObjectRef(api_version="v1", kind="Secret", namespace=here, name=str(named)))
        return [f"{ref} is not there; the bridge waits for it" for ref in refs if await self._is_missing(ref)]

    async def _is_missing(self, ref: ObjectRef) -> bool:
        try:
            await self._client.get(ref)
        except NotFound:
            return True
        except HyperFleetError:
            return False
        return False
