"""What a watch sends, from where it can resume, and how it ends."""

import httpx
import pytest

from tests.support.kubernetes import Api, Document, KubernetesServer, config_map, eventually, good, job, pod, unique


async def revision(api: Api, plural: str = "configmaps") -> str:
    version: str = good(await api.get(plural))["metadata"]["resourceVersion"]
    return version


async def cached(api: Api, made: Document) -> None:
    """Wait until the server's watch cache, from which a watch of version 0 begins, holds what was made."""
    version = made["metadata"]["resourceVersion"]
    good(await api.get("configmaps", resourceVersion=version, resourceVersionMatch="NotOlderThan"))


def named(event: tuple[str, Document]) -> tuple[str, str]:
    change, document = event
    return change, document["metadata"]["name"]


async def test_a_watch_sends_every_change_after_a_version_in_order(api: Api) -> None:
    since = await revision(api)
    made = good(await api.create("configmaps", config_map("c", a="1")))
    changed = good(await api.patch("configmaps", "c", {"data": {"a": "2"}}))

    async with api.watch("configmaps", resourceVersion=since) as watch:
        seen = [await watch.next(), await watch.next()]
        good(await api.delete("configmaps", "c"))
        change, last = await watch.next()

    assert seen == [("ADDED", made), ("MODIFIED", changed)]
    assert (change, last["metadata"]["uid"]) == ("DELETED", made["metadata"]["uid"])
    assert int(last["metadata"]["resourceVersion"]) > int(changed["metadata"]["resourceVersion"])


@pytest.mark.parametrize("version", [None, "0"])
async def test_a_watch_from_nowhere_begins_with_what_is_there(api: Api, version: str | None) -> None:
    for name in ("a", "b"):
        await cached(api, good(await api.create("configmaps", config_map(name))))

    async with api.watch("configmaps", **({"resourceVersion": version} if version else {})) as watch:
        first = [named(await watch.next()) for _ in range(2)]
        good(await api.create("configmaps", config_map("c")))
        then = named(await watch.next())

    assert sorted(first) == [("ADDED", "a"), ("ADDED", "b")]
    assert then == ("ADDED", "c")


async def test_a_watch_goes_on_where_another_ended(api: Api) -> None:
    since = await revision(api)
    good(await api.create("configmaps", config_map("a")))
    async with api.watch("configmaps", resourceVersion=since) as watch:
        _, last = await watch.next()
    good(await api.create("configmaps", config_map("b")))

    async with api.watch("configmaps", resourceVersion=last["metadata"]["resourceVersion"]) as watch:
        assert named(await watch.next()) == ("ADDED", "b")


async def test_a_watch_of_one_name_sends_no_other(api: Api) -> None:
    since = await revision(api, "pods")
    async with api.watch("pods", resourceVersion=since, fieldSelector="metadata.name=mine") as watch:
        good(await api.create("pods", pod("other")))
        good(await api.create("pods", pod("mine")))
        good(await api.patch("pods", "mine", {"status": {"phase": "Running"}}, "status"))

        assert [named(await watch.next()) for _ in range(2)] == [("ADDED", "mine"), ("MODIFIED", "mine")]


async def test_an_object_that_begins_to_match_is_added_and_one_that_ceases_is_deleted(api: Api) -> None:
    since = await revision(api, "pods")
    good(await api.create("pods", pod("p")))

    async with api.watch("pods", resourceVersion=since, labelSelector="here=yes") as watch:
        for labels in ({"here": "yes"}, {"here": "yes", "more": "1"}, {"here": None}):
            good(await api.patch("pods", "p", {"metadata": {"labels": labels}}))
        changes = [(await watch.next())[0] for _ in range(3)]

    assert changes == ["ADDED", "MODIFIED", "DELETED"]


async def test_a_watch_of_a_status_sends_a_patch_of_it(api: Api) -> None:
    good(await api.create("jobs", job("j")))
    since = await revision(api, "jobs")

    async with api.watch("jobs", resourceVersion=since, fieldSelector="metadata.name=j") as watch:
        body = {"status": {"conditions": [{"type": "Applied", "status": "True"}]}}
        patched = good(await api.patch("jobs", "j", body, "status"))

        assert await watch.next() == ("MODIFIED", patched)


async def test_a_watch_ends_when_its_time_is_over(api: Api) -> None:
    good(await api.create("configmaps", config_map("c")))

    async with api.watch("configmaps", timeoutSeconds=5) as watch:
        assert [named(event) for event in await watch.rest()] == [("ADDED", "c")]


async def test_bookmarks_show_how_far_a_quiet_watch_is(api: Api) -> None:
    since = await revision(api)

    async with api.watch("configmaps", resourceVersion=since, allowWatchBookmarks="true", timeoutSeconds=10) as watch:
        elsewhere = config_map(unique("c"))
        made = good(await api.send("POST", "/api/v1/namespaces/default/configmaps", elsewhere))
        events = await watch.rest()

    assert {change for change, _ in events} == {"BOOKMARK"}
    mark = events[-1][1]
    assert (mark["kind"], mark["apiVersion"]) == ("ConfigMap", "v1")
    assert int(mark["metadata"]["resourceVersion"]) >= int(made["metadata"]["resourceVersion"])
    assert "name" not in mark["metadata"]


@pytest.mark.parametrize("version", [None, "0"])
async def test_a_bookmark_marks_the_end_of_the_existing_objects(api: Api, version: str | None) -> None:
    await cached(api, good(await api.create("configmaps", config_map("c"))))
    since = {"resourceVersion": version} if version else {}

    async with api.watch("configmaps", allowWatchBookmarks="true", **since) as watch:
        first, (change, mark) = await watch.next(), await watch.next()

    assert named(first) == ("ADDED", "c")
    assert change == "BOOKMARK"
    assert mark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert int(mark["metadata"]["resourceVersion"]) >= int(first[1]["metadata"]["resourceVersion"])


async def test_a_watch_without_bookmarks_gets_none(api: Api) -> None:
    since = await revision(api)

    async with api.watch("configmaps", resourceVersion=since, timeoutSeconds=3) as watch:
        assert await watch.rest() == []


async def test_a_watch_from_a_forgotten_version_gets_an_expired_error(server: KubernetesServer, api: Api) -> None:
    good(await api.create("configmaps", config_map("c")))
    await server.forget()

    async with api.watch("configmaps", resourceVersion="1") as watch:
        change, error = await watch.next()
        rest = await watch.rest()

    assert watch.answer.status_code == 200
    assert (change, error["kind"], error["reason"], error["code"]) == ("ERROR", "Status", "Expired", 410)
    assert error["message"].startswith("too old resource version: 1 (")
    assert rest == []


async def test_a_watch_breaks_when_the_server_crashes_and_goes_on_when_it_is_back(
    server: KubernetesServer, api: Api
) -> None:
    since = await revision(api)
    async with api.watch("configmaps", resourceVersion=since) as watch:
        await server.kill()
        with pytest.raises((AssertionError, httpx.HTTPError)):
            await watch.next()
    await server.start()
    good(await api.create("configmaps", config_map("c")))

    async def ended() -> bool:
        async with api.watch("configmaps", resourceVersion=since, timeoutSeconds=60) as again:
            return named(await again.next()) == ("ADDED", "c")

    assert await eventually(ended)
