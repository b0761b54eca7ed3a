"""Expressions that fail are counted in their phase, whatever the run makes of it; those with a default are foreseen."""

from typing import Any

import pytest

from dispatcher.config.compiled import EventSource, ExpressionSource
from dispatcher.engine.runs import Phase
from shared.languages.cel import compile_cel
from tests.unit.engine.building import (
    Stage,
    action,
    adapter,
    capture,
    manifest,
    param,
    payload,
    precondition,
    resource,
)

ID = param("id", EventSource(("id",)))
BROKEN = "event.nowhere.atAll"


def resource_when(**conditions: Any) -> dict[str, Any]:
    return {"params": (ID,), "resources": (resource("config", manifest("ConfigMap", "{{ .id }}"), **conditions),)}


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param({}, {}, id="none"),
        pytest.param({"params": (param("x", ExpressionSource(compile_cel(BROKEN))),)}, {Phase.PARAMS: 1}, id="a param"),
        pytest.param(
            {"preconditions": (precondition("p", expression=BROKEN),)}, {Phase.PRECONDITIONS: 1}, id="a precondition"
        ),
        pytest.param(
            {"preconditions": (precondition("p", get="/x", captures=(capture("c", expression=BROKEN),)),)},
            {Phase.PRECONDITIONS: 1},
            id="a capture",
        ),
        pytest.param(
            {"preconditions": (precondition("p", get="/x", captures=(capture("c", expression=BROKEN, default=1),)),)},
            {},
            id="a capture with a default",
        ),
        pytest.param(resource_when(create_when=BROKEN), {Phase.RESOURCES: 1}, id="a condition of a creation"),
        pytest.param(resource_when(delete_when=BROKEN), {Phase.RESOURCES: 1}, id="a condition of a deletion"),
        pytest.param(
            {"payloads": (payload("p", {"a": {"expression": BROKEN}, "b": {"expression": BROKEN}}),)},
            {Phase.POST_ACTIONS: 2},
            id="values of a payload",
        ),
        pytest.param(
            {"payloads": (payload("p", {"a": {"expression": BROKEN, "default": 1}}),)}, {}, id="a value with a default"
        ),
        pytest.param(
            {"payloads": (payload("p", {}, when=BROKEN),)}, {Phase.POST_ACTIONS: 1}, id="a condition of a payload"
        ),
        pytest.param(
            {"post_actions": (action("report", when=BROKEN),)}, {Phase.POST_ACTIONS: 1}, id="a condition of an action"
        ),
    ],
)
async def test_what_fails_is_counted(parts: dict[str, Any], expected: dict[Phase, int]) -> None:
    play = Stage(adapter(**parts))
    play.api.on("GET /x", {})
    assert (await play.run()).failed_expressions == expected
