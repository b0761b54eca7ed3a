from typing import Any

import pytest

from dispatcher.config.compiled import EventSource, LogAction
from dispatcher.engine.runs import Phase, Status, Verdict
from tests.unit.engine.building import (
    Stage,
    adapter,
    capture,
    condition,
    manifest,
    param,
    precondition,
    reporting,
    resource,
    template,
)

GENERATION = (param("generation", EventSource(("generation",))),)
CLUSTER = {
    "name": "one",
    "generation": 7,
    "spec": {"nodes": 3},
    "status": {"conditions": [{"type": "Reconciled", "status": "False"}]},
}


def stage(*preconditions: Any) -> Stage:
    made = Stage(
        adapter(
            params=GENERATION,
            preconditions=preconditions,
            resources=(resource("ns", manifest("Namespace", "n")),),
            **reporting(),
        )
    )
    made.api.on("GET /clusters/c1", CLUSTER)
    return made


async def test_captures_and_responses_are_seen_by_what_follows() -> None:
    made = stage(
        precondition(
            "getCluster",
            get="/clusters/c1",
            captures=(capture("name", field="name"), capture("n", expression="spec.nodes + 1")),
        ),
        precondition("check", expression='name == "one" && n == 4 && getCluster.generation == 7 && generation == 5'),
    )

    result = await made.run()

    assert [each.verdict for each in result.preconditions] == [Verdict.MET, Verdict.MET]
    assert result.preconditions[0].captured == {"name": "one", "n": 4}


@pytest.mark.parametrize(
    ("made", "value"),
    [
        pytest.param(capture("x", field="missing", default="d"), "d", id="a field with a default"),
        pytest.param(capture("x", field="missing"), None, id="a field without one"),
        pytest.param(capture("x", field="status.conditions[?(@.type=='No')].status", default="d"), None, id="a filter that matches nothing, which is no error"),
        pytest.param(capture("x", expression="spec.missing"), None, id="an expression"),
        pytest.param(capture("x", expression="spec.missing", default=1), 1, id="an expression with a default"),
        pytest.param(capture("x", expression="generation"), 7, id="the response's own key, not the param of that name"),
        pytest.param(capture("x", expression="has(getCluster.deleted_time)"), False, id="the response by the precondition's name"),
    ],
)  # fmt: skip
async def test_a_capture_of(made: Any, value: Any) -> None:
    result = await stage(precondition("getCluster", get="/clusters/c1", captures=(made,))).run()

    assert result.preconditions[0].captured == {"x": value}
    assert result.status is Status.SUCCESS


async def test_captures_do_not_see_params() -> None:
    result = await stage(precondition("p", get="/clusters/c1", captures=(capture("x", expression="event.id"),))).run()

    assert result.preconditions[0].captured == {"x": None}
    assert "capture 'x' is null" in result.warnings[0]


async def test_a_condition_that_is_not_met_skips_resources_and_says_why() -> None:
    made = stage(
        precondition(
            "getCluster",
            get="/clusters/c1",
            captures=(capture("name", field="name"),),
            conditions=(condition("name", "equals", "two"), condition("generation", "in", [1, 2])),
        ),
        precondition("later", expression="true"),
    )

    result = await made.run()

    assert (result.status, result.skipped) == (Status.SUCCESS, True)
    assert result.skip_reason == (
        'precondition \'getCluster\' not met: name equals "two" (actual: "one"); generation in [1, 2] (actual: 5)'
    )
    assert len(result.preconditions) == 1
    assert made.operations() == []
    assert len(made.api.bodies()) == 1


async def test_conditions_win_over_an_expression() -> None:
    made = stage(precondition("p", expression="false", conditions=(condition("generation", "equals", 5),)))

    assert (await made.run()).preconditions[0].verdict is Verdict.MET


async def test_numbers_of_a_response_equal_numbers_of_the_file() -> None:
    """Row 5: the Go program compares a JSON number with a YAML number as different types."""
    made = stage(precondition("p", get="/clusters/c1", conditions=(condition("p.spec.nodes", "equals", 3),)))

    assert (await made.run()).preconditions[0].verdict is Verdict.MET


@pytest.mark.parametrize("expression", ["generation > 5", "null", '""', "[]", "{}", "optional.none()"])
async def test_an_expression_is_not_met_by(expression: str) -> None:
    result = await stage(precondition("p", expression=expression)).run()

    assert result.skip_reason == f"precondition 'p' not met: {expression} is false"


async def test_zero_is_a_match() -> None:
    assert (await stage(precondition("p", expression="0")).run()).preconditions[0].verdict is Verdict.MET


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(precondition("p", expression="nowhere.x == 1"), id="an expression"),
        pytest.param(precondition("p", conditions=(condition("missing", "greaterThan", 1),)), id="a condition"),
        pytest.param(precondition("p", get="/broken"), id="a call"),
        pytest.param(precondition("p", get="/clusters/{{ .nowhere }}"), id="a URL"),
    ],
)
async def test_a_precondition_that_fails_is_not_one_that_is_not_met(made: Any) -> None:
    """Row 3: the Go program takes an expression's error for "not met" and reports success."""
    made_stage = stage(made)
    made_stage.api.on("GET /broken", (500, {}))

    result = await made_stage.run()

    assert result.status is Status.FAILED
    assert result.preconditions[0].verdict is Verdict.FAILED
    assert list(result.errors) == [Phase.PRECONDITIONS]
    assert made_stage.operations() == []


async def test_a_failing_precondition_fills_adapter_by_the_one_rule() -> None:
    """Row 20: the phase is the name of a phase, the step the name of the step."""
    made = Stage(
        adapter(
            params=GENERATION,
            preconditions=(precondition("p", expression="nowhere"),),
            **reporting({"conditions": [], "adapter": {"expression": "adapter"}}),
        )
    )

    await made.run()

    reported = made.api.bodies()[0]["adapter"]
    assert reported["executionStatus"] == "failed"
    assert reported["errorReason"] == "PreconditionFailed"
    assert (reported["executionError"]["phase"], reported["executionError"]["step"]) == ("preconditions", "p")
    assert reported["executionError"]["message"] == reported["errorMessage"]
    assert reported["resourcesSkipped"] is True
    assert reported["resourceErrors"] == {}


async def test_a_404_of_a_precondition_is_a_skip_and_post_actions_run() -> None:
    """The Go program returns without any post-action."""
    made = stage(precondition("p", get="/clusters/unknown"))

    result = await made.run()

    assert (result.status, result.skip_reason) == (Status.SUCCESS, "ResourceNotFound")
    assert result.preconditions[0].verdict is Verdict.NOT_FOUND
    assert len(made.api.bodies()) == 1


async def test_an_author_s_log_line_that_cannot_be_rendered_stops_nothing() -> None:
    made = stage(precondition("p", expression="true", log=LogAction(message=template("{{ .nowhere }}"))))

    result = await made.run()

    assert result.status is Status.SUCCESS
    assert "a log message cannot be rendered" in result.warnings[0]
