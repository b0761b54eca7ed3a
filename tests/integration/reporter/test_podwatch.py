"""Following the pod: one get and one watch while all is well, and back in sight after every kind of trouble."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from lab.kubernetes import LabKubernetes
from shared.errors import NotFound, Permanent
from status_reporter.kube import Kube
from status_reporter.pod import watching
from status_reporter.pod.watching import follow
from tests.support.kubernetes import TIMEOUT, Api, Document, good, pod, unique

POLL = 0.1
READ = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
WATCH = READ | {"verbs": ["get", "watch"]}


class _Over(Exception):
    """That nobody follows any more."""


class _Connection(Kube):
    """The sidecar's own connection, which ends its thread with the test."""

    over = False

    def pod(self, name: str, timeout: float) -> dict[str, Any]:
        if self.over:
            raise _Over
        return super().pod(name, timeout)


class Follower:
    """A thread that follows one pod, as the sidecar's does."""

    def __init__(self, lab: LabKubernetes, api: Api, account: Path) -> None:
        self.name = unique("pod")
        self._lab, self._api = lab, api
        self._connection = _Connection(lab.url, account, api.namespace)
        self._seen: asyncio.Queue[Mapping[str, Any] | Permanent] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._thread = Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        with contextlib.suppress(_Over), contextlib.closing(self._connection):
            follow(self._connection, self.name, POLL, self._record, self._record)

    def _record(self, news: Mapping[str, Any] | Permanent) -> None:
        if not self._connection.over:
            self._loop.call_soon_threadsafe(self._seen.put_nowait, news)

    async def aclose(self) -> None:
        """Let the thread end, wherever it is: its next look is its last, and its watches are cut."""
        self._connection.over = True
        self._lab.faults.clear()
        while self._thread.is_alive():
            self._lab.faults.cut_watches()
            await asyncio.to_thread(self._thread.join, 0.05)

    async def label(self, text: str) -> None:
        """Change the pod."""
        good(await self._api.patch("pods", self.name, {"metadata": {"labels": {"step": text}}}))

    async def until_label(self, text: str) -> None:
        async with asyncio.timeout(TIMEOUT):
            while not (isinstance(news := await self._seen.get(), Mapping) and _label(news) == text):
                pass

    async def until_given_up(self) -> Permanent:
        async with asyncio.timeout(TIMEOUT):
            while isinstance(news := await self._seen.get(), Mapping):
                pass
        return news

    async def until_requests(self, *, gets: int = 0, watches: int = 0) -> None:
        async with asyncio.timeout(TIMEOUT):
            while not self._has_made(gets, watches):  # noqa: ASYNC110 - the stand-in counts, it posts no event
                await asyncio.sleep(0.01)

    def _has_made(self, gets: int, watches: int) -> bool:
        made = self.requests()
        return made[0] >= gets and made[1] >= watches

    def requests(self) -> tuple[int, int]:
        """How many gets and watches of the pod there were."""
        own = [each for each in self._lab.seen if each.user != "admin" and each.method == "GET"]
        gets = sum(each.path.endswith(f"/pods/{self.name}") for each in own)
        return gets, sum("/pods?watch=" in each.path for each in own)


def _label(shown: Mapping[str, Any]) -> str | None:
    step: str | None = shown["metadata"].get("labels", {}).get("step")
    return step


async def _follower(lab: LabKubernetes, api: Api, folder: Path, rule: Document) -> Follower:
    account = await api.new_account([rule])
    (folder / "token").write_text(account.token)
    follower = Follower(lab, api, folder)
    good(await api.create("pods", pod(follower.name, labels={"step": "first"})))
    return follower


@pytest.fixture
async def follower(lab: LabKubernetes, api: Api, tmp_path: Path) -> AsyncIterator[Follower]:
    async with contextlib.aclosing(await _follower(lab, api, tmp_path, WATCH)) as started:
        yield started


async def test_changes_are_reported_by_one_watch_after_one_get(follower: Follower) -> None:
    follower.start()
    await follower.until_label("first")
    for step in ("second", "third"):
        await follower.label(step)
        await follower.until_label(step)
    assert follower.requests() == (1, 1)


async def test_a_change_between_the_look_and_the_watch_is_not_missed(lab: LabKubernetes, follower: Follower) -> None:
    lab.faults.delay(0.3, path="/pods$")
    follower.start()
    await follower.until_label("first")
    await follower.label("second")
    await follower.until_label("second")


async def test_a_watch_that_was_cut_is_resumed_and_shows_what_happened_meanwhile(
    lab: LabKubernetes, follower: Follower
) -> None:
    follower.start()
    await follower.until_requests(gets=1, watches=1)
    await follower.until_label("first")
    lab.faults.cut_watches()
    await follower.label("second")
    await follower.until_label("second")
    await follower.until_requests(gets=2, watches=2)


async def test_a_server_that_forgot_the_history_is_asked_anew(lab: LabKubernetes, follower: Follower) -> None:
    follower.start()
    await follower.until_requests(gets=1, watches=1)
    lab.faults.expire_history()
    await follower.label("second")
    await follower.until_label("second")


@pytest.mark.parametrize("status", [410, 429, 500, 503])
async def test_a_watch_that_is_refused_for_now_is_tried_again(
    lab: LabKubernetes, follower: Follower, status: int
) -> None:
    lab.faults.fail(status, path="/pods$")
    follower.start()
    await follower.until_requests(gets=2, watches=2)
    await follower.label("second")
    await follower.until_label("second")


async def test_a_pod_that_may_not_be_watched_is_polled(lab: LabKubernetes, api: Api, tmp_path: Path) -> None:
    async with contextlib.aclosing(await _follower(lab, api, tmp_path, READ)) as follower:
        follower.start()
        await follower.until_requests(gets=3)
        await follower.label("second")
        await follower.until_label("second")
        _, watches = follower.requests()
        assert watches == 1, "what is not allowed is asked for once"


async def test_a_refusal_that_does_not_last_is_not_believed(lab: LabKubernetes, follower: Follower) -> None:
    lab.faults.fail(403, path="/pods/", times=2)
    follower.start()
    await follower.until_label("first")


async def test_a_refusal_after_an_outage_is_not_believed_at_once(
    lab: LabKubernetes, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "FORBIDDEN_SECONDS", 0.9)
    lab.faults.fail(503, path="/pods/", headers={"Retry-After": "1"})
    lab.faults.fail(403, path="/pods/")
    follower.start()
    await follower.until_label("first")


async def test_a_pod_that_is_gone_is_given_up(api: Api, follower: Follower) -> None:
    follower.start()
    await follower.until_requests(gets=1, watches=1)
    good(await api.delete("pods", follower.name, gracePeriodSeconds=0))
    assert isinstance(await follower.until_given_up(), NotFound)


@pytest.mark.parametrize(
    "body",
    ["<html>a proxy's page</html>", "[]", "", '{"type": '],
    ids=["a page", "a list", "nothing", "half an object"],
)
async def test_an_answer_that_is_no_pod_is_asked_for_again(lab: LabKubernetes, follower: Follower, body: str) -> None:
    lab.faults.fail(200, path="/pods", times=4, body=body)
    follower.start()
    await follower.until_label("first")


async def test_watches_that_end_at_once_do_not_make_a_storm(lab: LabKubernetes, follower: Follower) -> None:
    lab.faults.fail(200, path="/pods$", times=100, body='{"type": "ERROR", "object": {"code": 410}}')
    started = time.monotonic()
    follower.start()
    await follower.until_requests(gets=5)
    assert time.monotonic() - started >= 4 * POLL / 2


async def test_a_server_that_asks_for_patience_gets_it(lab: LabKubernetes, follower: Follower) -> None:
    lab.faults.fail(429, path="/pods/", headers={"Retry-After": "1"})
    started = time.monotonic()
    follower.start()
    await follower.until_label("first")
    assert time.monotonic() - started >= 1
