"""The verbs of the client, on an API server."""

from contextlib import aclosing
from typing import Any

import pytest

from shared.errors import AlreadyExists, Conflict, Deleting, Invalid, NotFound, UnknownKind
from shared.kubernetes import KubernetesClient, ObjectRef, PatchType, Selection, equal_labels, uid_of, version_of
from tests.support.kubernetes_objects import config_map, job

MANAGER = "tests"


def at_version(manifest: dict[str, Any], stored: dict[str, Any], **metadata: str) -> dict[str, Any]:
    """The manifest, carrying the identity of what was observed."""
    carried = {"uid": uid_of(stored), "resourceVersion": version_of(stored), **metadata}
    return {**manifest, "metadata": {**manifest["metadata"], **carried}}


async def test_an_object_is_created_read_and_deleted(client: KubernetesClient, namespace: str) -> None:
    created = await client.create(config_map(namespace, a="1"))
    ref = ObjectRef.of(created)
    assert await client.get(ref) == created
    assert await client.delete(ref, uid=uid_of(created)) is None
    with pytest.raises(NotFound):
        await client.get(ref)


async def test_a_name_can_be_left_to_the_server(client: KubernetesClient, namespace: str) -> None:
    manifest = config_map(namespace)
    manifest["metadata"] = {"namespace": namespace, "generateName": "settings-"}
    names = {(await client.create(manifest))["metadata"]["name"] for _ in range(2)}
    assert len(names) == 2
    assert all(name.startswith("settings-") for name in names)


async def test_what_exists_is_not_created_again(client: KubernetesClient, namespace: str) -> None:
    await client.create(config_map(namespace))
    with pytest.raises(AlreadyExists):
        await client.create(config_map(namespace))


async def test_a_namespace_that_is_missing_is_named(client: KubernetesClient) -> None:
    with pytest.raises(NotFound, match="nowhere") as refusal:
        await client.create(config_map("nowhere"))
    assert not isinstance(refusal.value, UnknownKind)


async def test_a_namespace_that_is_going_takes_nothing_new(client: KubernetesClient, namespace: str) -> None:
    blocked = config_map(namespace)
    blocked["metadata"]["finalizers"] = ["tests.example.com/held"]
    held = ObjectRef.of(await client.create(blocked))
    await client.delete(ObjectRef(api_version="v1", kind="Namespace", name=namespace))
    with pytest.raises(Deleting):
        await client.create(config_map(namespace, "late"))
    await client.patch(held, {"metadata": {"finalizers": None}})


async def test_content_that_is_refused_is_invalid_and_says_where(client: KubernetesClient, namespace: str) -> None:
    bad = job(namespace)
    bad["spec"]["template"]["spec"]["restartPolicy"] = "Always"
    with pytest.raises(Invalid) as refusal:
        await client.create(bad)
    assert "spec.template.spec.restartPolicy" in [problem.path for problem in refusal.value.problems]


@pytest.mark.parametrize(
    ("api_version", "kind"), [("v1", "Wardrobe"), ("tests.example.com/v1", "Wardrobe"), ("batch/v9", "Job")]
)
async def test_a_kind_that_is_not_served_is_said_so(client: KubernetesClient, api_version: str, kind: str) -> None:
    with pytest.raises(UnknownKind, match=kind):
        await client.get(ObjectRef(api_version=api_version, kind=kind, name="a", namespace="default"))


class TestServerSideApply:
    async def test_it_creates_and_then_changes_nothing_that_is_the_same(
        self, client: KubernetesClient, namespace: str
    ) -> None:
        created = await client.apply(config_map(namespace, a="1"), manager=MANAGER)
        assert await client.apply(config_map(namespace, a="1"), manager=MANAGER) == created

    async def test_what_is_left_out_is_removed(self, client: KubernetesClient, namespace: str) -> None:
        await client.apply(config_map(namespace, a="1", b="2"), manager=MANAGER)
        changed = await client.apply(config_map(namespace, a="1"), manager=MANAGER)
        assert changed["data"] == {"a": "1"}

    async def test_what_others_set_stays(self, client: KubernetesClient, namespace: str) -> None:
        created = await client.apply(config_map(namespace, a="1"), manager=MANAGER)
        await client.patch(ObjectRef.of(created), {"data": {"theirs": "x"}}, manager="others")
        changed = await client.apply(config_map(namespace, a="2"), manager=MANAGER)
        assert changed["data"] == {"a": "2", "theirs": "x"}

    async def test_without_force_the_field_of_another_is_a_conflict(
        self, client: KubernetesClient, namespace: str
    ) -> None:
        await client.apply(config_map(namespace, a="1"), manager="others")
        with pytest.raises(Conflict):
            await client.apply(config_map(namespace, a="2"), manager=MANAGER, force=False)
        assert (await client.apply(config_map(namespace, a="2"), manager=MANAGER))["data"] == {"a": "2"}

    async def test_the_version_that_was_read_must_still_be_there(
        self, client: KubernetesClient, namespace: str
    ) -> None:
        read = await client.apply(config_map(namespace, a="1"), manager=MANAGER)
        await client.patch(ObjectRef.of(read), {"data": {"a": "2"}})
        with pytest.raises(Conflict):
            await client.apply(at_version(config_map(namespace, a="3"), read), manager=MANAGER)

    async def test_the_object_that_was_read_must_still_be_there(self, client: KubernetesClient, namespace: str) -> None:
        read = await client.apply(config_map(namespace, a="1"), manager=MANAGER)
        await client.delete(ObjectRef.of(read))
        with pytest.raises(Conflict):
            await client.apply(at_version(config_map(namespace, a="2"), read), manager=MANAGER)
        await client.apply(config_map(namespace, a="other"), manager=MANAGER)
        for version in ("", version_of(read)):
            with pytest.raises(Conflict):
                await client.apply(
                    at_version(config_map(namespace, a="2"), read, resourceVersion=version), manager=MANAGER
                )

    async def test_a_version_that_never_was_creates_what_is_missing_and_refuses_what_is_there(
        self, client: KubernetesClient, namespace: str
    ) -> None:
        manifest = config_map(namespace, a="1")
        manifest["metadata"]["resourceVersion"] = "1"
        created = await client.apply(manifest, manager=MANAGER)
        assert created["data"] == {"a": "1"}
        with pytest.raises(Conflict):
            await client.apply(manifest, manager=MANAGER)

    async def test_a_dry_run_answers_and_writes_nothing(self, client: KubernetesClient, namespace: str) -> None:
        created = await client.apply(config_map(namespace, a="1"), manager=MANAGER)
        tried = await client.apply(config_map(namespace, a="2"), manager=MANAGER, dry_run=True)
        assert tried["data"] == {"a": "2"}
        assert await client.get(ObjectRef.of(created)) == created

    async def test_an_object_as_it_was_read_can_be_applied(self, client: KubernetesClient, namespace: str) -> None:
        read = await client.apply(config_map(namespace, a="1"), manager=MANAGER)
        assert (await client.apply(read, manager=MANAGER))["data"] == {"a": "1"}


async def test_a_strategic_patch_merges_the_conditions_of_a_job(client: KubernetesClient, namespace: str) -> None:
    ref = ObjectRef.of(await client.create(job(namespace)))
    for kind in ("Applied", "Available"):
        changed = await client.patch(
            ref,
            {"status": {"conditions": [{"type": kind, "status": "True"}]}},
            type_=PatchType.STRATEGIC,
            subresource="status",
        )
    assert {each["type"] for each in changed["status"]["conditions"]} == {"Applied", "Available"}


async def test_a_json_patch_is_a_list_of_steps(client: KubernetesClient, namespace: str) -> None:
    ref = ObjectRef.of(await client.create(config_map(namespace, a="1")))
    changed = await client.patch(ref, [{"op": "remove", "path": "/data/a"}], type_=PatchType.JSON)
    assert not changed.get("data")


async def test_a_stale_object_replaces_nothing(client: KubernetesClient, namespace: str) -> None:
    read = await client.create(config_map(namespace, a="1"))
    changed = await client.replace({**read, "data": {"a": "2"}})
    assert changed["data"] == {"a": "2"}
    with pytest.raises(Conflict):
        await client.replace({**read, "data": {"a": "3"}})


async def test_what_a_finalizer_holds_is_shown_after_its_deletion(client: KubernetesClient, namespace: str) -> None:
    manifest = config_map(namespace)
    manifest["metadata"]["finalizers"] = ["tests.example.com/held"]
    ref = ObjectRef.of(await client.create(manifest))
    left = await client.delete(ref)
    assert left is not None
    assert left["metadata"]["deletionTimestamp"]
    await client.patch(ref, {"metadata": {"finalizers": None}})
    with pytest.raises(NotFound):
        await client.delete(ref)


async def test_a_deletion_is_for_the_object_that_was_read(client: KubernetesClient, namespace: str) -> None:
    ref = ObjectRef.of(await client.create(config_map(namespace)))
    with pytest.raises(Conflict):
        await client.delete(ref, uid="11111111-2222-3333-4444-555555555555")
    await client.delete(ref, dry_run=True)
    assert await client.get(ref)


async def test_a_list_says_of_each_object_what_it_is(client: KubernetesClient, namespace: str) -> None:
    for name in ("a", "b", "c"):
        await client.create(config_map(namespace, name, labels={"half": "first" if name < "b" else "second"}))
    selection = Selection(
        api_version="v1", kind="ConfigMap", namespace=namespace, labels=equal_labels({"half": "second"})
    )
    found = await client.list(selection)
    assert sorted(str(ObjectRef.of(each)) for each in found) == [f"ConfigMap {namespace}/b", f"ConfigMap {namespace}/c"]


async def test_pages_together_show_one_moment(client: KubernetesClient, namespace: str) -> None:
    for name in ("a", "b", "c"):
        await client.create(config_map(namespace, name))
    selection = Selection(
        api_version="v1", kind="ConfigMap", namespace=namespace, fields="metadata.name!=kube-root-ca.crt"
    )
    sizes, versions = [], set()
    async with aclosing(client.pages(selection, size=2)) as pages:
        async for page in pages:
            sizes.append(len(page.items))
            versions.add(page.version)
            if len(sizes) == 1:
                await client.create(config_map(namespace, "late"))
    assert sizes == [2, 1]
    assert len(versions) == 1


async def test_all_namespaces_are_searched_where_none_is_given(client: KubernetesClient, namespace: str) -> None:
    await client.create(config_map(namespace, "rare-name"))
    found = await client.list(Selection(api_version="v1", kind="ConfigMap", fields="metadata.name=rare-name"))
    assert namespace in [each["metadata"]["namespace"] for each in found]


async def test_a_namespace_is_ignored_for_a_kind_that_has_none(client: KubernetesClient, namespace: str) -> None:
    ref = ObjectRef(api_version="v1", kind="Namespace", name=namespace, namespace="ignored")
    assert (await client.get(ref))["metadata"]["name"] == namespace


async def test_an_object_of_a_namespaced_kind_needs_a_namespace(client: KubernetesClient) -> None:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    for call in (client.create(manifest), client.apply(manifest, manager=MANAGER), client.get(ObjectRef.of(manifest))):
        with pytest.raises(Invalid, match="namespace"):
            await call
