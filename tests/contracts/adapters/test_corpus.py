"""The corpus on servers: what an adapter does to clusters, and what it reports, is what its rehearsal says.

Every case is played, or stands in `NOT_PLAYED` with the reason why no server can show it. Where a server cannot give the
report of the rehearsal, the operations are compared and `OTHER_REPORT` has the reason.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from dispatcher.dryrun.cases import Case, find_cases
from shared.kubernetes import KubernetesClient
from shared.maestro import MaestroClient
from tests.contracts.adapters.stage import Played, Servers, Stage, expected
from tests.support.maestro import MaestroServer

CORPUS = Path(__file__).parents[2] / "conformance" / "adapters"
CASES = {case.name: case for case in find_cases(CORPUS)}

NOT_PLAYED: dict[str, str] = {}
OTHER_REPORT: dict[str, str] = {
    "manifestwork/applied-at-once": "an agent reports a while after the creation, never in its answer",
}
NOT_ON_STANDINS: dict[str, str] = {
    "deployment/available": "the stand-in serves no Deployment",
    "deployment/created": "the stand-in serves no Deployment",
    "superseding-jobs/lower-generations-go-first": "the stand-in's garbage collector is faster than any real one",
    "superseding-jobs/waits-for-a-lower-one-that-stays": "as above, and it removes this finalizer",
}

PLAYED = [case for name, case in CASES.items() if name not in NOT_PLAYED]


@pytest.fixture
def cluster_servers(kubernetes: KubernetesClient, maestro: MaestroClient, maestro_server: MaestroServer) -> Servers:
    return Servers(kubernetes, maestro, maestro_server.broker_address)


@pytest.mark.parametrize("case", PLAYED, ids=[case.name for case in PLAYED])
async def test_a_server_sees_what_the_rehearsal_said(case: Case, cluster_servers: Servers, servers: str) -> None:
    if servers != "real" and case.name in NOT_ON_STANDINS:
        pytest.skip(NOT_ON_STANDINS[case.name])

    played = await Stage(case, cluster_servers).play()

    for live, trace in zip(played, expected(case), strict=True):
        assert [(each.name, each.operation or "", bool(each.error)) for each in live.result.resources] == [
            (step["name"], step["operation"], "error" in step) for step in trace.get("resources", ())
        ], live.result.errors
        assert live.result.status == trace["status"]
        assert [each.done != "skipped" for each in live.result.post_actions] == [
            "skipped" not in step for step in trace.get("postActions", ())
        ]
        if case.name not in OTHER_REPORT:
            assert _live_reports(live) == _expected_reports(trace)


def _live_reports(live: Played) -> list[Any]:
    return [_stated(json.loads(request.body or "null")) for request, _ in live.requests if request.method == "PUT"]


def _expected_reports(trace: dict[str, Any]) -> list[Any]:
    requests = trace.get("apiRequests", ())
    return [_stated(request["requestBody"]) for request in requests if request["method"] == "PUT"]


def _stated(status: Any) -> Any:
    """Generation, and type, status and reason of each condition: messages name ids and times."""
    if not isinstance(status, dict) or not isinstance(status.get("conditions"), list):
        return status
    conditions = [(each.get("type"), each.get("status"), each.get("reason")) for each in status["conditions"]]
    return status.get("observed_generation"), conditions


def test_the_tables_name_cases_of_the_corpus_and_no_case_twice() -> None:
    assert {*NOT_PLAYED, *OTHER_REPORT, *NOT_ON_STANDINS} <= CASES.keys()
    assert not NOT_PLAYED.keys() & (OTHER_REPORT.keys() | NOT_ON_STANDINS.keys())
    assert len(PLAYED) + len(NOT_PLAYED) == len(CASES) >= 100
