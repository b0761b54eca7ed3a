"""What only the stand-in can do: go wrong on purpose, hand out tokens, keep the promises of deletion by itself."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from lab.certificates import self_signed
from lab.kubernetes import EVERYTHING, LabKubernetes, Rule
from tests.support.kubernetes import TIMEOUT, Api, Document, admin, config_map, eventually, good, job, pod, standin


@pytest.fixture
async def server() -> AsyncIterator[LabKubernetes]:
    async with LabKubernetes() as running:
        yield running


@pytest.fixture
async def api(server: LabKubernetes) -> AsyncIterator[Api]:
    async with admin(standin(server)) as api:
        yield api


@pytest.fixture
def caller(server: LabKubernetes, api: Api) -> Api:
    """Somebody who may do everything, and is not spared."""
    return api.as_(server.new_token(EVERYTHING))


async def arrived(server: LabKubernetes, path: str) -> bool:
    return any(seen.path.endswith(path) for seen in server.seen)


async def test_a_number_of_requests_fail_as_planned(server: LabKubernetes, caller: Api) -> None:
    server.faults.fail(429, method="GET", path="/configmaps", times=2, headers={"Retry-After": "1"}, body="slow down")

    answers = [await caller.get("configmaps") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [429, 429, 200]
    assert (answers[0].headers["Retry-After"], answers[0].text) == ("1", "slow down")


async def test_a_failure_without_a_body_is_a_status(server: LabKubernetes, caller: Api) -> None:
    server.faults.fail(503)

    answer = await caller.get("configmaps")

    assert answer.json()["kind"] == "Status"
    assert answer.json()["code"] == 503


async def test_only_the_requests_that_are_meant_fail(server: LabKubernetes, caller: Api) -> None:
    good(await caller.create("jobs", job("j")))
    server.faults.fail(500, method="PATCH", path=r"/jobs/j/status$")

    assert (await caller.get("jobs", "j", "status")).status_code == 200
    assert (await caller.patch("jobs", "j", {})).status_code == 200
    assert (await caller.patch("jobs", "j", {}, "status")).status_code == 500
    assert (await caller.patch("jobs", "j", {}, "status")).status_code == 200


async def test_the_admin_is_spared(server: LabKubernetes, api: Api, caller: Api) -> None:
    server.faults.fail(500)

    assert (await api.get("configmaps")).status_code == 200
    assert (await caller.get("configmaps")).status_code == 500


async def test_a_connection_is_cut_before_anything_is_done(server: LabKubernetes, caller: Api) -> None:
    server.faults.cut(method="POST")

    with pytest.raises(httpx.RemoteProtocolError):
        await caller.create("configmaps", config_map("c"))

    assert (await caller.get("configmaps", "c")).status_code == 404


async def test_an_answer_is_lost_after_everything_is_done(server: LabKubernetes, caller: Api) -> None:
    server.faults.lose_answer(method="POST")

    with pytest.raises(httpx.RemoteProtocolError):
        await caller.create("configmaps", config_map("c"))

    assert (await caller.get("configmaps", "c")).status_code == 200


async def test_a_request_hangs_until_its_caller_gives_up(server: LabKubernetes, caller: Api) -> None:
    server.faults.hang(path="/configmaps")
    hanging = asyncio.create_task(caller.get("configmaps"))
    await eventually(lambda: arrived(server, "/configmaps"))
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging

    assert (await caller.get("configmaps")).status_code == 200


async def test_a_request_is_carried_out_later(server: LabKubernetes, caller: Api) -> None:
    server.faults.delay(0.2)
    started = time.monotonic()

    assert (await caller.get("configmaps")).status_code == 200
    assert time.monotonic() - started >= 0.2


async def test_faults_that_have_not_happened_can_be_forgotten(server: LabKubernetes, caller: Api) -> None:
    server.faults.fail(500, times=5)
    server.faults.clear()

    assert (await caller.get("configmaps")).status_code == 200


async def test_watches_are_cut(server: LabKubernetes, caller: Api) -> None:
    async with caller.watch("configmaps") as watch:
        server.faults.cut_watches()
        with pytest.raises(httpx.HTTPError):
            await watch.next()


async def test_a_history_that_expired_is_an_error_even_at_the_last_version(server: LabKubernetes, caller: Api) -> None:
    since = good(await caller.get("configmaps"))["metadata"]["resourceVersion"]
    server.faults.expire_history()

    async with caller.watch("configmaps", resourceVersion=since) as watch:
        change, error = await watch.next()
    fresh = good(await caller.get("configmaps"))["metadata"]["resourceVersion"]
    async with caller.watch("configmaps", resourceVersion=fresh) as watch:
        good(await caller.create("configmaps", config_map("c")))
        assert (await watch.next())[0] == "ADDED"

    assert (change, error["code"]) == ("ERROR", 410)


async def test_a_page_that_expired_is_gone(server: LabKubernetes, caller: Api) -> None:
    for name in ("a", "b"):
        good(await caller.create("configmaps", config_map(name)))
    first = good(await caller.get("configmaps", limit=1))
    server.faults.expire_history()

    answer = await caller.get("configmaps", limit=1, **{"continue": first["metadata"]["continue"]})

    assert (answer.status_code, answer.json()["reason"]) == (410, "Expired")


async def test_a_crash_waits_for_nobody(server: LabKubernetes, caller: Api) -> None:
    server.faults.hang(path="/configmaps")
    hanging = asyncio.create_task(caller.get("configmaps"))
    await eventually(lambda: arrived(server, "/configmaps"))
    async with caller.watch("pods") as watch:
        async with asyncio.timeout(TIMEOUT):
            await server.kill()
        with pytest.raises(httpx.HTTPError):
            await watch.next()
    with pytest.raises(httpx.HTTPError):
        await hanging
    with pytest.raises(httpx.ConnectError):
        await caller.get("configmaps")

    await server.start()
    assert (await caller.get("configmaps")).status_code == 200


async def test_a_token_comes_with_its_rules(server: LabKubernetes, api: Api) -> None:
    rule = Rule(verbs=("patch",), resources=("jobs/status",), groups=("batch",), namespace=api.namespace)
    holder = api.as_(server.new_token([rule], user="reporter"))
    good(await api.create("jobs", job("j")))

    assert (await holder.patch("jobs", "j", {}, "status")).status_code == 200
    refused = await holder.get("jobs", "j")
    assert refused.status_code == 403
    assert 'User "reporter" cannot get resource "jobs"' in refused.json()["message"]


async def test_a_token_that_expired_is_known_no_longer(server: LabKubernetes, caller: Api) -> None:
    server.access.revoke(caller.token)

    assert (await caller.get("configmaps")).status_code == 401


async def test_requests_are_remembered_for_those_who_count_them(server: LabKubernetes, caller: Api) -> None:
    before = len(server.seen)
    await caller.get("configmaps", limit=1)

    [seen] = server.seen[before:]
    assert (seen.method, seen.path, seen.user) == ("GET", f"{caller.path('configmaps')}?limit=1", "somebody")


async def test_it_speaks_tls(tmp_path: Path) -> None:
    async with LabKubernetes(tls=self_signed(tmp_path)) as server, admin(standin(server)) as api:
        assert server.url.startswith("https://")
        assert (await api.get("configmaps")).status_code == 200


def owned(document: Document, *owners: Document) -> Document:
    references = [
        {
            "apiVersion": each["apiVersion"],
            "kind": each["kind"],
            "name": each["metadata"]["name"],
            "uid": each["metadata"]["uid"],
        }
        for each in owners
    ]
    return document | {"metadata": {**document["metadata"], "ownerReferences": references}}


async def gone(api: Api, plural: str, name: str) -> None:
    async def is_gone() -> bool:
        return (await api.get(plural, name)).status_code == 404

    await eventually(is_gone)


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
async def test_what_is_owned_goes_with_its_owner(api: Api, policy: str) -> None:
    owner = good(await api.create("jobs", job("j")))
    middle = good(await api.create("pods", owned(pod("p"), owner)))
    good(await api.create("configmaps", owned(config_map("c"), middle)))

    good(await api.delete("jobs", "j", propagationPolicy=policy))

    for plural, name in (("jobs", "j"), ("pods", "p"), ("configmaps", "c")):
        await gone(api, plural, name)


async def test_an_orphan_stays_without_its_owner(api: Api) -> None:
    owner = good(await api.create("jobs", job("j")))
    good(await api.create("pods", owned(pod("p"), owner)))

    good(await api.delete("jobs", "j", propagationPolicy="Orphan"))
    await gone(api, "jobs", "j")

    assert "ownerReferences" not in good(await api.get("pods", "p"))["metadata"]


async def test_what_has_another_owner_stays(api: Api) -> None:
    first, second = [good(await api.create("jobs", job(name))) for name in ("a", "b")]
    good(await api.create("configmaps", owned(config_map("c"), first, second)))

    good(await api.delete("jobs", "a", propagationPolicy="Background"))

    async def one_owner_left() -> bool:
        owners = good(await api.get("configmaps", "c"))["metadata"]["ownerReferences"]
        return [each["name"] for each in owners] == ["b"]

    await eventually(one_owner_left)


async def test_a_foreground_deletion_waits_for_what_is_held(api: Api) -> None:
    owner = good(await api.create("jobs", job("j")))
    held = owned(config_map("c"), owner)
    held["metadata"]["finalizers"] = ["lab.example.com/hold"]
    good(await api.create("configmaps", held))

    good(await api.delete("jobs", "j", propagationPolicy="Foreground"))

    async def marked() -> bool:
        return "deletionTimestamp" in good(await api.get("configmaps", "c"))["metadata"]

    await eventually(marked)
    assert good(await api.get("jobs", "j"))["metadata"]["finalizers"] == ["foregroundDeletion"]
    good(await api.patch("configmaps", "c", {"metadata": {"finalizers": None}}))
    await gone(api, "jobs", "j")


async def test_what_is_born_without_a_living_owner_goes(api: Api) -> None:
    dead = job("dead") | {"metadata": {"name": "dead", "uid": "11111111-1111-1111-1111-111111111111"}}

    good(await api.create("configmaps", owned(config_map("c"), dead)))

    await gone(api, "configmaps", "c")


async def test_a_namespace_goes_with_all_that_is_in_it(api: Api) -> None:
    good(await api.create("configmaps", config_map("c")))

    good(await api.send("DELETE", f"/api/v1/namespaces/{api.namespace}"))

    async def is_gone() -> bool:
        return (await api.send("GET", f"/api/v1/namespaces/{api.namespace}")).status_code == 404

    await eventually(is_gone)
    assert (await api.get("configmaps", "c")).status_code == 404
