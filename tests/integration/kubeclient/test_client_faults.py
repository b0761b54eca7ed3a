"""What the client does when the API server fails, on the stand-in, which fails on purpose."""

import asyncio
import json
from pathlib import Path

import pytest

from lab.kubernetes import EVERYTHING, LabKubernetes, Rule
from shared.errors import DeadlineExceeded, Forbidden, Invalid, ServerError, Unauthenticated, Unavailable, UnknownKind
from shared.kubernetes import (
    Access,
    Change,
    FixedAccess,
    KubernetesClient,
    ObjectRef,
    Selection,
    Watch,
    access_source,
    equal_labels,
)
from shared.kubernetes.watching.backoff import Backoff
from tests.support.kubernetes_objects import config_map
from tests.support.watches import LONGEST_WAIT, following

QUICK = Backoff(first=0.01, longest=0.05)
OURS = {"app": "tests"}


def ours(namespace: str) -> Selection:
    return Selection(api_version="v1", kind="ConfigMap", namespace=namespace, labels=equal_labels(OURS))


def widgets() -> dict[str, object]:
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    names = {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"}
    spec = {"group": "lab.example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.lab.example.com"},
        "spec": spec,
    }


class TestCalls:
    async def test_a_server_that_is_away_is_unavailable(self, server: LabKubernetes, client: KubernetesClient) -> None:
        await client.kind("v1", "ConfigMap")
        await server.kill()
        with pytest.raises(Unavailable, match="get ConfigMap n/a"):
            await client.get(ObjectRef.of(config_map("n", "a")))

    async def test_a_connection_that_breaks_is_unavailable(
        self, server: LabKubernetes, client: KubernetesClient, namespace: str
    ) -> None:
        server.faults.cut(method="POST")
        with pytest.raises(Unavailable):
            await client.create(config_map(namespace))

    async def test_no_answer_in_time_is_said_so(
        self, server: LabKubernetes, client: KubernetesClient, namespace: str
    ) -> None:
        server.faults.hang(path="configmaps/settings")
        ref = ObjectRef.of(await client.create(config_map(namespace)))
        with pytest.raises(DeadlineExceeded, match=r"no answer in 0\.05 s"):
            await client.get(ref, timeout=0.05)

    async def test_an_answer_that_is_no_json_is_the_servers_failure(
        self, server: LabKubernetes, client: KubernetesClient
    ) -> None:
        server.faults.fail(200, path="/namespaces/default$", body="<html>")
        with pytest.raises(ServerError, match="not JSON"):
            await client.get(ObjectRef(api_version="v1", kind="Namespace", name="default"))

    async def test_a_right_that_is_missing_is_named(self, server: LabKubernetes) -> None:
        token = server.new_token([Rule(verbs=("get",), resources=("configmaps",))])
        access = FixedAccess(Access(server=server.url, authorization=f"Bearer {token}"))
        async with KubernetesClient(access) as client:
            with pytest.raises(Forbidden, match="create"):
                await client.create(config_map("default"))

    async def test_a_server_that_failed_is_not_settled_for_a_while(
        self, server: LabKubernetes, client: KubernetesClient
    ) -> None:
        await server.kill()
        with pytest.raises(Unavailable):
            await client.get(ObjectRef(api_version="v1", kind="Namespace", name="default"))
        assert not client.is_settled

    async def test_a_token_that_was_rotated_is_read_again_and_used_at_once(
        self, server: LabKubernetes, tmp_path: Path
    ) -> None:
        first, second = server.new_token(EVERYTHING), server.new_token(EVERYTHING)
        (tmp_path / "token").write_text(first)
        path = tmp_path / "config"
        user = {"tokenFile": str(tmp_path / "token")}
        path.write_text(
            json.dumps(
                {
                    "clusters": [{"name": "c", "cluster": {"server": server.url}}],
                    "users": [{"name": "u", "user": user}],
                    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                    "current-context": "x",
                }
            )
        )
        default = ObjectRef(api_version="v1", kind="Namespace", name="default")
        async with KubernetesClient(access_source(str(path))) as client:
            assert await client.get(default)
            server.access.revoke(first)
            with pytest.raises(Unauthenticated):
                await client.get(default)
            (tmp_path / "token").write_text(second)
            assert await client.get(default)


class TestDiscovery:
    async def test_a_kind_is_looked_up_once(
        self, server: LabKubernetes, client: KubernetesClient, namespace: str
    ) -> None:
        for name in ("a", "b"):
            await client.create(config_map(namespace, name))
        assert [seen.path for seen in server.seen].count("/api/v1") == 1

    async def test_many_at_once_look_a_kind_up_once(self, server: LabKubernetes, client: KubernetesClient) -> None:
        await asyncio.gather(*(client.kind("batch/v1", "Job") for _ in range(10)))
        assert [seen.path for seen in server.seen].count("/apis/batch/v1") == 1

    async def test_a_kind_that_comes_later_is_found(self, server: LabKubernetes, client: KubernetesClient) -> None:
        with pytest.raises(UnknownKind):
            await client.kind("lab.example.com/v1", "Widget")
        server.define(widgets())
        assert (await client.kind("lab.example.com/v1", "Widget")).plural == "widgets"

    async def test_a_kind_that_is_gone_is_looked_up_again(
        self, server: LabKubernetes, client: KubernetesClient
    ) -> None:
        server.define(widgets())
        ref = ObjectRef(api_version="lab.example.com/v1", kind="Widget", name="a", namespace="default")
        assert (await client.kind(ref.api_version, ref.kind)).plural == "widgets"
        definition = ObjectRef(
            api_version="apiextensions.k8s.io/v1", kind="CustomResourceDefinition", name="widgets.lab.example.com"
        )
        await client.delete(definition)
        with pytest.raises(UnknownKind):
            await client.get(ref)
        with pytest.raises(UnknownKind, match="no kind Widget"):
            await client.get(ref)


class TestWatches:
    async def test_a_cut_watch_resumes_and_delivers_what_happened_meanwhile(
        self, server: LabKubernetes, client: KubernetesClient, namespace: str
    ) -> None:
        await client.create(config_map(namespace, "a", labels=OURS))
        async with following(Watch(client, ours(namespace), backoff=QUICK)) as followed:
            await server.kill()
            await server.start()
            await client.create(config_map(namespace, "b", labels=OURS))
            await followed.until_change(Change.ADDED, "b")
        assert followed.changes == [("ADDED", "a"), ("ADDED", "b")]
        assert followed.watch.healthy

    async def test_a_history_that_is_forgotten_is_listed_and_the_missed_deletion_delivered(
        self, server: LabKubernetes, client: KubernetesClient, namespace: str
    ) -> None:
        gone = ObjectRef.of(await client.create(config_map(namespace, "gone", labels=OURS)))
        await client.create(config_map(namespace, "kept", labels=OURS))
        async with following(Watch(client, ours(namespace), backoff=QUICK)) as followed:
            server.faults.fail(503, method="GET", path="configmaps", times=2)
            server.faults.cut_watches()
            await client.delete(gone)
            server.faults.expire_history()
            event = await followed.until_change(Change.DELETED, "gone")
        assert sorted(followed.changes) == [("ADDED", "gone"), ("ADDED", "kept"), ("DELETED", "gone")]
        assert event.object["metadata"]["labels"] == OURS

    async def test_it_is_not_healthy_while_the_server_is_away_and_healthy_again_after(
        self, server: LabKubernetes, client: KubernetesClient, namespace: str
    ) -> None:
        watch = Watch(client, ours(namespace), backoff=QUICK)

        async def until(healthy: bool) -> None:  # noqa: FBT001 - the state that is waited for
            async with asyncio.timeout(LONGEST_WAIT):
                while watch.healthy is not healthy:  # noqa: ASYNC110 - health is a fact to look at, not an event
                    await asyncio.sleep(0.01)

        async with following(watch) as followed:
            await server.kill()
            await until(healthy=False)
            await server.start()
            await until(healthy=True)
            assert followed.changes == []

    async def test_a_list_that_fails_halfway_is_begun_anew(
        self, server: LabKubernetes, client: KubernetesClient, namespace: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(KubernetesClient.pages, "__kwdefaults__", {"size": 1})
        for name in ("a", "b", "c"):
            await client.create(config_map(namespace, name, labels=OURS))
        server.faults.fail(410, method="GET", path="configmaps")
        async with following(Watch(client, ours(namespace), backoff=QUICK)) as followed:
            assert followed.changes == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")]

    async def test_rights_that_come_later_are_waited_for(self, server: LabKubernetes, namespace: str) -> None:
        token = server.new_token([], user="late")
        access = FixedAccess(Access(server=server.url, authorization=f"Bearer {token}"))
        async with KubernetesClient(access) as late, KubernetesClient(_admin(server)) as admin:
            watch = Watch(late, ours(namespace), backoff=QUICK)

            async def grant() -> None:
                await asyncio.sleep(0)
                rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}]
                role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "rules": rules}
                await admin.create({**role, "metadata": {"name": "late", "namespace": namespace}})
                subject = {"kind": "User", "name": "late", "apiGroup": "rbac.authorization.k8s.io"}
                reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "late"}
                binding = {"apiVersion": role["apiVersion"], "kind": "RoleBinding", "subjects": [subject]}
                await admin.create(
                    {**binding, "roleRef": reference, "metadata": {"name": "late", "namespace": namespace}}
                )

            granting = asyncio.create_task(grant())
            async with following(watch):
                assert watch.healthy
            await granting

    async def test_a_selector_that_cannot_be_read_ends_the_watch(self, client: KubernetesClient) -> None:
        selection = Selection(api_version="v1", kind="ConfigMap", labels="a in (")
        with pytest.raises(Invalid):
            async with following(Watch(client, selection)):
                raise AssertionError("it must not begin")

    async def test_an_object_larger_than_any_buffer_is_delivered_whole(
        self, client: KubernetesClient, namespace: str
    ) -> None:
        async with following(Watch(client, ours(namespace))) as followed:
            await client.create(config_map(namespace, "large", labels=OURS, text="x" * 900_000))
            event = await followed.until_change(Change.ADDED, "large")
        assert len(event.object["data"]["text"]) == 900_000

    async def test_a_bookmark_moves_the_point_from_which_it_resumes(
        self, server: LabKubernetes, client: KubernetesClient, namespace: str
    ) -> None:
        watch = Watch(client, ours(namespace), backoff=QUICK)
        async with following(watch) as followed:
            before = watch._version
            async with asyncio.timeout(LONGEST_WAIT):
                while watch._version == before:
                    await client.apply(
                        config_map(namespace, "unrelated", at=str(asyncio.get_running_loop().time())), manager="t"
                    )
                    await asyncio.sleep(0.05)
            assert followed.changes == []


def _admin(server: LabKubernetes) -> FixedAccess:
    return FixedAccess(Access(server=server.url, authorization=f"Bearer {server.admin_token}"))
