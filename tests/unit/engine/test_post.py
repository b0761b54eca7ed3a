"""Payloads, post-actions and statuses: what is sent, what is not, and what the API's answer leads to."""

import json
from datetime import timedelta
from typing import Any

import pytest

from dispatcher.config.compiled import EventSource
from dispatcher.engine.post.statuses import StatusBody, explain_discard
from dispatcher.engine.runs import Cause, Delivery, Done, Phase, Status
from shared import times
from shared.errors import Unavailable
from tests.unit.engine.building import (
    STATUSES,
    T0,
    Stage,
    action,
    adapter,
    call,
    manifest,
    param,
    payload,
    precondition,
    reporting,
    resource,
    status,
)

PARAMS = (param("generation", EventSource(("generation",))),)


def stage(**parts: Any) -> Stage:
    return Stage(adapter(params=PARAMS, **parts))


async def built(document: Any, **parts: Any) -> Any:
    result = await stage(payloads=(payload("p", document),), **parts).run()
    assert result.payloads, result.errors
    return json.loads(result.payloads[0].text or "null")


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param({"a": 1, "b": None, "c": True}, {"a": 1, "b": None, "c": True}, id="constants"),
        pytest.param(
            {"{{ .generation }}": "{{ .adapter.name }}-{{ .event.id }}"},
            {"5": "tests-c1"},
            id="templates in keys and values",
        ),
        pytest.param({"x": {"expression": "generation + 1"}}, {"x": 6}, id="expressions"),
        pytest.param({"x": {"field": "event.kind"}}, {"x": "Cluster"}, id="fields"),
        pytest.param({"x": {"field": "event.no", "default": "d"}}, {"x": "d"}, id="a field that is not there"),
        pytest.param({"x": {"field": "event.no"}}, {"x": None}, id="a field that is not there, without a default"),
        pytest.param({"x": {"expression": "nowhere", "default": 1}}, {"x": 1}, id="an expression that fails"),
        pytest.param({"x": {"expression": "null", "default": 1}}, {"x": 1}, id="null takes the default"),
        pytest.param({"x": {"expression": "null"}}, {"x": None}, id="null stays null"),
        pytest.param({"x": {"expression": "5.0"}}, {"x": 5}, id="a whole number has no point"),
        pytest.param({"x": {"expression": "5.5"}}, {"x": 5.5}, id="another one has"),
        pytest.param({"x": [1, "{{ .generation }}", {"expression": "[generation]"}]}, {"x": [1, "5", [5]]}, id="lists"),
    ],
)
async def test_a_payload_of(document: Any, expected: Any) -> None:
    assert await built(document) == expected


async def test_a_payload_is_compact_sorted_and_escaped_like_go_s() -> None:
    result = await stage(payloads=(payload("p", {"b": "<&>", "a": "é"}),)).run()

    assert result.payloads[0].text == '{"a":"é","b":"\\u003c\\u0026\\u003e"}'


async def test_an_expression_that_fails_is_recorded_with_its_place() -> None:
    result = await stage(payloads=(payload("p", {"x": {"expression": "nowhere"}}),)).run()

    assert result.warnings[0].startswith("somewhere is null: line 1, column 1")


async def test_templates_of_a_later_payload_see_an_earlier_one_and_expressions_do_not() -> None:
    result = await stage(
        payloads=(
            payload("a", {"x": 1}),
            payload("b", {"t": "{{ .a }}", "e": {"expression": "a", "default": "unseen"}}),
        )
    ).run()

    assert json.loads(result.payloads[1].text or "") == {"t": '{"x":1}', "e": "unseen"}


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"payloads": (payload("p", {"x": "{{ .nowhere }}"}),)}, id="a template that fails"),
        pytest.param({"payloads": (payload("p", {}, when="nowhere"),)}, id="a condition that fails"),
    ],
)
async def test_post_actions_are_stopped_by(parts: Any) -> None:
    play = stage(**parts, post_actions=(action("send", call("PUT", STATUSES, "x")),))

    result = await play.run()

    assert (result.status, result.post_actions, play.api.sent) == (Status.FAILED, (), [])
    assert result.errors[Phase.POST_ACTIONS].startswith("build_payloads: payload 'p' cannot be built")


async def test_an_action_whose_payload_is_left_out_is_skipped() -> None:
    play = stage(
        payloads=(payload("p", {}, when="false"),),
        post_actions=(
            action("send", call("POST", "/x", "{{ .p }}"), payloads=("p",)),
            action("other", call("POST", "/y", "{}")),
        ),
    )
    play.api.on("POST /y", 200)

    result = await play.run()

    assert [(each.done, each.reason) for each in result.post_actions] == [
        (Done.SKIPPED, "referenced payload 'p' was skipped"),
        (Done.EXECUTED, ""),
    ]


async def test_the_condition_of_an_action_sees_built_payloads() -> None:
    result = await stage(
        payloads=(payload("p", {"x": 1}),),
        post_actions=(action("a", when='p == "{}"'), action("b", when="p.size() > 0")),
    ).run()

    assert [each.done for each in result.post_actions] == [Done.SKIPPED, Done.EXECUTED]
    assert result.post_actions[0].reason == 'when condition evaluated to false: p == "{}"'


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(action("a", when="nowhere"), id="its condition fails"),
        pytest.param(action("a", call("GET", "/{{ .nowhere }}")), id="its URL cannot be rendered"),
        pytest.param(action("a", call("POST", "/refused", "{}")), id="the API refuses it"),
    ],
)
async def test_an_action_is_the_last_if(broken: Any) -> None:
    play = stage(post_actions=(broken, action("never", call("POST", "/x", "{}"))))
    play.api.on("POST /refused", (400, {"detail": "no"}))

    result = await play.run()

    assert (result.status, [each.done for each in result.post_actions]) == (Status.FAILED, [Done.FAILED])


async def test_a_404_of_an_action_is_the_end_and_no_failure() -> None:
    play = stage(post_actions=(action("a", call("POST", "/gone", "{}")), action("never", call("POST", "/x", "{}"))))

    result = await play.run()

    assert (result.status, [each.reason for each in result.post_actions]) == (Status.SUCCESS, ["ResourceNotFound"])


async def test_only_calls_that_may_have_a_body_send_one() -> None:
    play = stage(post_actions=(action("a", call("DELETE", "/x", "body")),))
    play.api.on("DELETE /x", 200)

    await play.run()

    assert play.api.sent[0].body is None


# The time of a status


async def test_observed_time_is_the_instant_before_resources_were_read_whatever_the_author_wrote() -> None:
    play = stage(resources=(resource("ns", manifest("Namespace", "n")),), **reporting())
    reads = []
    find = play.kubernetes.find

    async def noting(query: Any) -> Any:
        reads.append(play.clock.at)
        return await find(query)

    play.kubernetes.find = noting  # type: ignore[method-assign]  # the instant of the first read is what is asked

    result = await play.run()

    sent = times.parse(play.api.bodies()[0]["observed_time"])
    assert sent == reads[0] - timedelta(microseconds=1) or T0 < sent <= reads[0]
    assert result.reports[0].observed_time == sent


async def test_observed_times_of_an_object_increase_though_the_clock_goes_back() -> None:
    play = stage(**reporting())

    await play.run()
    play.clock.at = T0 - timedelta(hours=1)
    await play.run()
    await play.run()

    stamps = [times.parse(each["observed_time"]) for each in play.api.bodies()]
    assert stamps == sorted(set(stamps))
    assert stamps[1] - stamps[0] == timedelta(microseconds=1)


async def test_a_body_that_is_no_status_goes_out_as_written() -> None:
    play = stage(post_actions=(action("a", call("PUT", STATUSES, '{"x": 1}')),))

    await play.run()

    assert play.api.sent[0].body == '{"x": 1}'


# What the API made of it

STORED = {
    "observed_generation": 5,
    "conditions": [
        {"type": "Applied", "status": "True"},
        {"type": "Available", "status": "True"},
        {"type": "Health", "status": "True"},
    ],
}


async def test_a_stored_status_is_compared_with_what_was_sent() -> None:
    play = stage(**reporting())
    play.api.on(f"PUT {STATUSES}", (201, STORED))

    assert (await play.run()).reports[0].delivery is Delivery.STORED


@pytest.mark.parametrize(
    "echoed",
    [
        pytest.param({**STORED, "observed_generation": 4}, id="another generation"),
        pytest.param({**STORED, "conditions": STORED["conditions"][:2]}, id="a condition less"),  # type: ignore[index]
        pytest.param({**STORED, "conditions": [{"type": "Available", "status": "False"}]}, id="another status"),
    ],
)
async def test_an_echo_is_not_what_was_sent_if_it_has(echoed: Any) -> None:
    play = stage(**reporting())
    play.api.on(f"PUT {STATUSES}", (201, echoed))

    result = await play.run()

    assert (result.reports[0].delivery, result.status) == (Delivery.DISCARDED, Status.SUCCESS)
    assert result.requeue is not None


async def discarded(cluster: Any, statuses: Any, document: Any = None) -> tuple[Any, Stage]:
    play = stage(**reporting(document))
    play.api.on(f"PUT {STATUSES}", 204).on("GET /clusters/c1", cluster).on(f"GET {STATUSES}", statuses)
    return await play.run(), play


async def test_after_204_a_generation_that_moved_is_run_again_with_it() -> None:
    result, _ = await discarded({"generation": 6}, {"items": []})

    assert result.reports[0].reason == "the object is at generation 6, the status is of generation 5"
    assert result.requeue is not None
    assert result.requeue.generation == 6


async def test_after_204_an_unknown_availability_is_done() -> None:
    result, _ = await discarded(
        {"generation": 5}, {"items": [{"adapter": "tests", "observed_generation": 5}]}, status('"Unknown"')
    )

    assert (result.status, result.requeue) == (Status.SUCCESS, None)
    assert result.reports[0].reason == "Available=Unknown is taken only as a first status"


@pytest.mark.parametrize(("ahead", "after"), [(2, 0), (60, 60)], ids=["is followed", "too far is waited for"])
async def test_after_204_a_clock_that_is_ahead(ahead: int, after: int) -> None:
    reported = times.to_micros(T0 + timedelta(seconds=ahead))
    result, _ = await discarded(
        {"generation": 5}, {"items": [{"adapter": "other"}, {"adapter": "tests", "last_report_time": reported}]}
    )

    assert result.requeue is not None
    assert result.requeue.after == pytest.approx(after, abs=0.01)


@pytest.mark.parametrize("cluster", [404, (404, {"code": "HYPERFLEET-NTF-001"})])
async def test_after_204_an_object_that_is_gone_is_done(cluster: Any) -> None:
    result, _ = await discarded(cluster, {"items": []})

    assert (result.status, result.requeue, result.reports[0].reason) == (Status.SUCCESS, None, "the object is gone")


async def test_a_discarded_status_is_never_sent_again_by_the_same_run() -> None:
    _, play = await discarded({"generation": 5}, {"items": []})

    assert play.api.calls() == [f"PUT {STATUSES}", "GET /clusters/c1", f"GET {STATUSES}"]


async def test_after_204_an_api_that_does_not_answer_is_asked_in_another_run() -> None:
    result, _ = await discarded(Unavailable("nobody answers"), {})

    assert (result.status, result.reports[0].delivery) == (Status.SUCCESS, Delivery.DISCARDED)
    assert result.requeue is not None


async def test_our_status_is_looked_for_on_a_larger_page_where_the_first_is_not_all() -> None:
    play = stage(**reporting(status('"Unknown"')))
    play.api.on(f"PUT {STATUSES}", 204).on("GET /clusters/c1", {"generation": 5})
    play.api.on(f"GET {STATUSES}", {"items": [{"adapter": "other"}], "total": 21})
    play.api.on(f"GET {STATUSES}?size=100", {"items": [{"adapter": "tests"}], "total": 21})

    assert (await play.run()).reports[0].reason.startswith("Available=Unknown")


def test_a_future_generation_is_run_again_too() -> None:
    sent = StatusBody(url=STATUSES, document={"observed_generation": 5})

    discard = explain_discard(sent, T0, {"generation": 4}, None, T0)

    assert discard.requeue is not None
    assert discard.requeue.generation == 4


async def test_a_failed_status_is_a_report_too() -> None:
    play = stage(**reporting())
    play.api.on(f"PUT {STATUSES}", (500, {}))

    result = await play.run()

    assert (result.reports[0].delivery, result.transient) == (Delivery.FAILED, True)


# What is withheld


@pytest.mark.parametrize("cause", [Cause.WATCH, Cause.TIMER])
async def test_a_run_that_no_event_woke_sends_no_status_while_preconditions_are_not_met(cause: Cause) -> None:
    play = stage(preconditions=(precondition("p", expression="false"),), **reporting())
    play.adapter = adapter(
        params=PARAMS,
        preconditions=play.adapter.preconditions,
        payloads=play.adapter.payloads,
        post_actions=(*play.adapter.post_actions, action("other", call("POST", "/x", "{}"))),
    )
    play.api.on("POST /x", 200)
    play.engine = type(play.engine)(play.adapter, play.ports)

    result = await play.run(cause=cause)

    assert play.api.calls() == ["POST /x"]
    assert (result.status, result.reports[0].delivery) == (Status.SUCCESS, Delivery.WITHHELD)
    await play.run()
    assert play.api.calls() == ["POST /x", f"PUT {STATUSES}", "POST /x"]


async def test_a_run_that_no_event_woke_reports_a_failure() -> None:
    play = stage(preconditions=(precondition("p", expression="nowhere"),), **reporting())

    assert (await play.run(cause=Cause.TIMER)).reports[0].delivery is Delivery.STORED
