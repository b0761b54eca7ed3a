"""The sidecar's requests: what each refusal means, and where its token goes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lab.kubernetes import LabKubernetes
from shared.errors import Conflict, Forbidden, HyperFleetError, Invalid, NotFound, ServerError, Transient, Unavailable
from status_reporter.kube import ExpiredToken, Kube
from tests.support.kubernetes import Api, good, pod

READ_PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
TIMEOUT = 60.0


@pytest.fixture
async def account(api: Api, tmp_path: Path) -> Path:
    (tmp_path / "token").write_text((await api.new_account([READ_PODS])).token)
    return tmp_path


@pytest.fixture
async def connection(lab: LabKubernetes, api: Api, account: Path) -> AsyncIterator[Kube]:
    good(await api.create("pods", pod("a-pod")))
    with contextlib.closing(Kube(lab.url, account, api.namespace)) as open_connection:
        yield open_connection


async def refusal(connection: Kube) -> HyperFleetError:
    with pytest.raises(HyperFleetError) as refused:
        await asyncio.to_thread(connection.pod, "a-pod", TIMEOUT)
    return refused.value


@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        (302, Invalid),
        (400, Invalid),
        (401, ExpiredToken),
        (403, Forbidden),
        (404, NotFound),
        (409, Unavailable),
        (410, Unavailable),
        (413, Invalid),
        (422, Invalid),
        (429, Unavailable),
        (500, ServerError),
        (503, ServerError),
        (504, ServerError),
    ],
)
async def test_each_refusal_says_whether_another_try_is_worth_it(
    lab: LabKubernetes, connection: Kube, status: int, meaning: type[HyperFleetError]
) -> None:
    lab.faults.fail(status)
    assert type(await refusal(connection)) is meaning


async def test_a_refusal_carries_the_servers_own_message(lab: LabKubernetes, connection: Kube) -> None:
    lab.faults.fail(400, body={"message": "the server's own message"})
    assert "the server's own message" in str(await refusal(connection))


async def test_another_job_of_the_same_name_is_a_conflict(lab: LabKubernetes, connection: Kube) -> None:
    lab.faults.fail(422, body={"message": 'Job.batch "x" is invalid: metadata.uid: Invalid value: field is immutable'})
    assert isinstance(await refusal(connection), Conflict)


@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7.0), ("0", 0.0), ("soon", None), ("\u00b2", None), ("-1", None), ("", None)]
)
async def test_the_wait_a_server_asks_for_is_understood_or_ignored(
    lab: LabKubernetes, connection: Kube, header: str, seconds: float | None
) -> None:
    lab.faults.fail(429, headers={"Retry-After": header})
    error = await refusal(connection)
    assert isinstance(error, Transient)
    assert error.retry_after == seconds


async def test_the_token_is_not_taken_to_where_a_redirect_leads(lab: LabKubernetes, connection: Kube) -> None:
    async with LabKubernetes() as elsewhere:
        lab.faults.fail(307, headers={"Location": f"{elsewhere.url}/api/v1/pods"})
        assert isinstance(await refusal(connection), Invalid)
        assert elsewhere.seen == []


async def test_a_path_before_the_api_is_kept(lab: LabKubernetes, api: Api, account: Path) -> None:
    with contextlib.closing(Kube(f"{lab.url}/clusters/one/", account, api.namespace)) as connection:
        assert isinstance(await refusal(connection), NotFound)
    assert lab.seen[-1].path == f"/clusters/one/api/v1/namespaces/{api.namespace}/pods/a-pod"


async def test_requests_share_a_connection_and_survive_its_end(lab: LabKubernetes, connection: Kube) -> None:
    for _ in range(2):
        shown = await asyncio.to_thread(connection.pod, "a-pod", TIMEOUT)
        assert shown["metadata"]["name"] == "a-pod"
        await lab.kill()
        await lab.start()


async def test_authorities_that_cannot_be_read_may_be_readable_later(account: Path) -> None:
    (account / "ca.crt").write_text("not a certificate yet")
    with contextlib.closing(Kube("https://127.0.0.1:1", account, "x")) as connection:
        assert isinstance(await refusal(connection), Unavailable)


async def test_a_token_that_cannot_be_read_may_be_readable_later(lab: LabKubernetes, account: Path) -> None:
    (account / "token").write_bytes(b"\xff\xfe")
    with contextlib.closing(Kube(lab.url, account, "x")) as connection:
        assert isinstance(await refusal(connection), Unavailable)


async def test_without_a_token_the_server_is_asked_all_the_same(lab: LabKubernetes, account: Path) -> None:
    (account / "token").unlink()
    with contextlib.closing(Kube(lab.url, account, "x")) as connection:
        assert isinstance(await refusal(connection), ExpiredToken)
