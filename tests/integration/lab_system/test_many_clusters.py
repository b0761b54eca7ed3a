"""The scenario many-clusters, on the API and Sentinel alone: stub adapters report what Jobs and HyperShift would."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from lab.demo.cluster_api import ClusterApi
from lab.demo.scenarios import many_clusters
from lab.demo.timeline import Timeline
from lab.system import LabSystem
from lab.system.parts import Part
from lab.system.stub_adapter import StubAdapter
from lab.system.system import CLUSTERS, STUBS


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[ClusterApi]:
    async with AsyncExitStack() as running:
        system = await running.enter_async_context(LabSystem(folder=tmp_path, parts={Part.SENTINEL}))
        for name in (*STUBS, "controlplane"):
            stub = StubAdapter(name, api_url=system.api.url, broker=system.broker.address, topic=CLUSTERS)
            await running.enter_async_context(stub)
        url = f"{system.api.url}/api/hyperfleet/v1"
        http = await running.enter_async_context(httpx.AsyncClient(base_url=url, timeout=120))
        yield ClusterApi(system, Timeline(colour=False), http)


async def test_progress_is_shown_while_it_runs_and_the_table_has_a_few_milestones(
    api: ClusterApi, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLUSTERS", "6")
    await many_clusters(api)

    shown = capsys.readouterr().out
    assert "6 of 6 clusters are available" in shown
    assert "6 of 6 clusters are gone" in shown
    assert [what for what, _ in api.timeline.steps] == [
        *("2 of 6 clusters are available", "3 of 6 clusters are available", "5 of 6 clusters are available"),
        "6 of 6 clusters are available",
        *("2 of 6 clusters are gone", "3 of 6 clusters are gone", "5 of 6 clusters are gone"),
        "6 of 6 clusters are gone",
    ]


async def test_sentinel_announces_more_clusters_more_rarely_and_afterwards_as_before(
    api: ClusterApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentinel = api.system.sentinels[0]
    usual = sentinel.settings
    seen = []

    class StopsAtTheFirst(Exception): ...

    async def create(_name: str) -> str:
        seen.append(sentinel.settings)
        raise StopsAtTheFirst

    monkeypatch.setenv("CLUSTERS", "24")
    monkeypatch.setattr(api, "create", create)
    with pytest.raises(StopsAtTheFirst):
        await many_clusters(api)

    assert [(each.debounce, each.stale) for each in seen] == [(2 * usual.debounce, 2 * usual.stale)]
    assert sentinel.settings == usual


async def test_one_cluster_is_one_milestone(api: ClusterApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLUSTERS", "1")
    await many_clusters(api)

    assert [what for what, _ in api.timeline.steps] == ["1 of 1 clusters are available", "1 of 1 clusters are gone"]
