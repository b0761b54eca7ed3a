"""A Kubernetes client whose writes are dry runs: the server checks, admits and completes them, and stores nothing."""

from typing import Any

from shared.kubernetes import KubernetesClient, Object, ObjectRef


class DryRunClient(KubernetesClient):
    """The verbs that the transport writes with. The others raise, so that none can write by mistake."""

    async def create(self, manifest: Object, **options: Any) -> Object:
        return await super().create(manifest, **{**options, "dry_run": True})

    async def apply(self, manifest: Object, **options: Any) -> Object:
        return await super().apply(manifest, **{**options, "dry_run": True})

    async def delete(self, ref: ObjectRef, **options: Any) -> Object | None:
        return await super().delete(ref, **{**options, "dry_run": True})

    async def replace(self, document: Object, **_: Any) -> Object:
        raise AssertionError(f"{ObjectRef.of(document)} would be replaced, and nothing may be written")

    async def patch(self, ref: ObjectRef, *_: Any, **__: Any) -> Object:
        raise AssertionError(f"{ref} would be patched, and nothing may be written")
