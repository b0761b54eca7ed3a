from pathlib import Path
from typing import Any

import pytest

from dispatcher.config.compiled import (
    ApiCallSource,
    ConfigSource,
    EnvSource,
    EventSource,
    ExpressionSource,
    FileSource,
    ObjectKeySource,
    PathSource,
)
from dispatcher.engine.runs import Done, Phase, Status
from shared.errors import Unavailable
from tests.unit.engine.building import Stage, action, adapter, call, cel, manifest, param, payload, reporting, resource


def values(result: Any) -> dict[str, Any]:
    return {each.name: each.value for each in result.params if each.resolved}


async def test_every_source_gives_its_value(tmp_path: Path) -> None:
    """Row 25: the Go program has no Secrets and ConfigMaps, which its guide promises."""
    file = tmp_path / "region"
    file.write_text(" eu \n")
    stage = Stage(
        adapter(
            params=(
                param("id", EventSource(("id",))),
                param("owner", EventSource(("owner_references", "id"))),
                param("region", EnvSource("REGION")),
                param("setting", ConfigSource(("k", "n"))),
                param("cluster", ApiCallSource(call("GET", "/clusters/{{ .id }}"))),
                param("name", PathSource(("cluster", "name"))),
                param("bare", PathSource(("kind",))),
                param("sum", ExpressionSource(cel("setting + 1"))),
                param("file", FileSource(file)),
                param("raw", FileSource(file, trim=False)),
                param("token", ObjectKeySource("Secret", "ns", "s", "k")),
                param("limit", ObjectKeySource("ConfigMap", "ns", "c", "k"), type_="int"),
            )
        ),
        environment={"REGION": "us"},
        secrets={("Secret", "ns", "s", "k"): "hush", ("ConfigMap", "ns", "c", "k"): "7"},
        data={"id": "c1", "kind": "Cluster", "owner_references": {"id": "o1"}},
    )
    stage.api.on("GET /clusters/c1", {"name": "one"})

    result = await stage.run()

    assert result.status is Status.SUCCESS
    assert values(result) == {
        "id": "c1",
        "owner": "o1",
        "region": "us",
        "setting": 1,
        "cluster": {"name": "one"},
        "name": "one",
        "bare": "Cluster",
        "sum": 2,
        "file": "eu",
        "raw": " eu \n",
        "token": "hush",
        "limit": 7,
    }


async def test_a_param_defined_twice_has_its_later_value() -> None:
    stage = Stage(
        adapter(params=(param("g", EventSource(("generation",))), param("g", ExpressionSource(cel("g + 1")))))
    )

    result = await stage.run()

    assert [each.value for each in result.params] == [5, 6]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        pytest.param({"default": "d"}, "d", id="its default"),
        pytest.param({"default": "d", "type_": "int"}, "d", id="its default as written, where the source failed"),
        pytest.param({"default": None}, None, id="null where null is the default"),
    ],
)
async def test_an_optional_param_that_fails_has(more: dict[str, Any], expected: Any) -> None:
    result = await Stage(adapter(params=(param("p", EventSource(("missing",)), **more),))).run()

    assert values(result) == {"p": expected}
    assert (result.params[0].error, result.warnings) == ("", ())


async def test_an_optional_param_that_fails_without_a_default_is_absent_and_says_why() -> None:
    """Row 4: the Go program says nothing."""
    result = await Stage(adapter(params=(param("p", ExpressionSource(cel("unknown.thing"))),))).run()

    assert result.status is Status.SUCCESS
    assert not result.params[0].resolved
    assert result.warnings[0].startswith("optional param 'p' is absent: line 1, column 1")


@pytest.mark.parametrize("found", [None, ""])
async def test_null_and_empty_take_the_default_and_convert_it(found: Any) -> None:
    result = await Stage(adapter(params=(param("p", EventSource(("x",)), default="5", type_="int"),))).run(x=found)

    assert values(result) == {"p": 5}


async def test_a_failing_conversion_of_an_optional_param_takes_the_default() -> None:
    result = await Stage(adapter(params=(param("p", EventSource(("id",)), default=0, type_="int"),))).run()

    assert values(result) == {"p": 0}
    assert result.params[0].error == "'c1' is no int"


async def test_a_required_param_that_fails_is_reported_by_the_post_actions() -> None:
    """Row 1 of the framework's defects: the Go program reports nothing."""
    stage = Stage(
        adapter(
            params=(param("generation", EventSource(("generation",))), param("p", EnvSource("NOT_SET"), required=True)),
            resources=(resource("ns", manifest("Namespace", "n")),),
            **reporting(),
        )
    )

    result = await stage.run()

    assert result.status is Status.FAILED
    assert result.errors == {
        Phase.PARAMS: "required param 'p' cannot be resolved from 'its source' because the environment has no variable NOT_SET"
    }
    assert stage.operations() == []
    assert stage.api.bodies()[0]["conditions"][2] == {"type": "Health", "status": "False"}


async def test_what_can_be_resolved_after_a_failure_is_there_for_post_actions() -> None:
    stage = Stage(
        adapter(
            params=(
                param("p", EnvSource("NOT_SET"), required=True),
                param("q", PathSource(("p", "x")), required=True),
                param("generation", EventSource(("generation",))),
            ),
            **reporting(),
        )
    )

    result = await stage.run()

    assert "'p'" in result.errors[Phase.PARAMS]
    assert "'q'" not in result.errors[Phase.PARAMS]
    assert stage.api.bodies()[0]["observed_generation"] == 5


async def test_a_404_for_the_object_of_the_event_is_a_skip_and_post_actions_run() -> None:
    """Row 1: the Go program fails, or goes on without the param."""
    stage = Stage(
        adapter(
            params=(param("cluster", ApiCallSource(call("GET", "/clusters/c1")), required=True),),
            resources=(resource("ns", manifest("Namespace", "n")),),
            payloads=(payload("seen", {"why": {"field": "adapter.skipReason"}}),),
            post_actions=(action("notify", call("POST", "/elsewhere", "{{ .seen }}"), payloads=("seen",)),),
        )
    )
    stage.api.on("POST /elsewhere", 200)

    result = await stage.run()

    assert (result.status, result.skipped, result.skip_reason) == (Status.SUCCESS, True, "ResourceNotFound")
    assert stage.api.bodies("POST /elsewhere") == [{"why": "ResourceNotFound"}]
    assert stage.operations() == []


async def test_a_status_that_cannot_be_built_for_a_missing_object_is_no_failure() -> None:
    stage = Stage(
        adapter(
            params=(param("cluster", ApiCallSource(call("GET", "/clusters/c1"))),),
            **reporting({"adapter": "{{ .cluster.name }}", "conditions": []}),
        )
    )

    result = await stage.run()

    assert result.status is Status.SUCCESS
    assert (result.post_actions[0].done, result.post_actions[0].reason) == (
        Done.SKIPPED,
        "referenced payload 'report' was skipped",
    )


async def test_a_status_refused_for_a_missing_object_is_no_failure() -> None:
    """The API looks at the body before it looks for the object, and a body without a generation is refused."""
    stage = Stage(adapter(params=(param("cluster", ApiCallSource(call("GET", "/clusters/c1"))),), **reporting()))
    stage.api.on("PUT /clusters/c1/statuses", (400, {"code": "HYPERFLEET-VAL-000"}))

    result = await stage.run()

    assert result.status is Status.SUCCESS
    assert result.post_actions[0].reason == "ResourceNotFound"


async def test_a_404_of_something_else_fails_a_required_param() -> None:
    stage = Stage(
        adapter(params=(param("pools", ApiCallSource(call("GET", "/clusters/c1/nodepools")), required=True),))
    )

    result = await stage.run()

    assert result.status is Status.FAILED
    assert "answered 404" in result.errors[Phase.PARAMS]


async def test_an_endpoint_that_does_not_exist_is_a_mistake_and_no_missing_object() -> None:
    stage = Stage(adapter(params=(param("cluster", ApiCallSource(call("GET", "/clusters/c1")), required=True),)))
    stage.api.on("GET /clusters/c1", (404, {"code": "HYPERFLEET-NTF-000", "detail": "no route"}))

    result = await stage.run()

    assert result.status is Status.FAILED
    assert "correct the URL" in result.errors[Phase.PARAMS]


async def test_an_api_that_does_not_answer_fails_the_run_and_asks_for_another() -> None:
    stage = Stage(adapter(params=(param("cluster", ApiCallSource(call("GET", "/clusters/c1")), required=True),)))
    stage.api.on("GET /clusters/c1", Unavailable("nobody answers", retry_after=3))

    result = await stage.run()

    assert (result.status, result.transient) == (Status.FAILED, True)
    assert result.requeue is not None
    assert result.requeue.after == 3
    assert result.params[0].calls[0].status is None


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        pytest.param([1], "is not a JSON object: it is a list", id="a list"),
        pytest.param(
            (500, {"detail": "it broke", "code": "HYPERFLEET-INT-001"}),
            "500 Internal Server Error: it broke [HYPERFLEET-INT-001]",
            id="a problem",
        ),
        pytest.param(
            (400, {"title": "Bad", "errors": [{"field": "name", "message": "too long"}]}),
            "Bad; name: too long",
            id="a problem with details",
        ),
    ],
)
async def test_an_answer_that_is_no_object_fails_and_says_what_it_is(answer: Any, text: str) -> None:
    stage = Stage(adapter(params=(param("cluster", ApiCallSource(call("GET", "/clusters/c1")), required=True),)))
    stage.api.on("GET /clusters/c1", answer)

    assert text in (await stage.run()).errors[Phase.PARAMS]


@pytest.mark.parametrize(
    ("content", "required", "text"),
    [
        pytest.param(b"x" * (1024 * 1024 + 1), False, "has more than 1048576 bytes", id="too large"),
        pytest.param(b"\xff\xfe", False, "is not text in UTF-8", id="no text"),
        pytest.param(b" \n", True, "is empty", id="required and blank"),
        pytest.param(None, False, "cannot be read: No such file or directory", id="missing"),
    ],
)
async def test_a_file_is_refused_that_is(tmp_path: Path, content: bytes | None, required: bool, text: str) -> None:  # noqa: FBT001 - a column
    file = tmp_path / "f"
    if content is not None:
        file.write_bytes(content)

    result = await Stage(adapter(params=(param("p", FileSource(file), required=required),))).run()

    assert text in result.params[0].error


async def test_reserved_names_stay_what_they_are_whatever_params_say() -> None:
    stage = Stage(
        adapter(params=(param("event", EventSource(("id",))), param("kind", ExpressionSource(cel("event.kind")))))
    )

    assert values(await stage.run())["kind"] == "Cluster"


async def test_a_secret_is_redacted_in_errors_and_warnings() -> None:
    """Row 19."""
    stage = Stage(
        adapter(
            params=(
                param("token", ObjectKeySource("Secret", "ns", "s", "k")),
                param("n", PathSource(("token",)), type_="int", required=True),
            )
        ),
        secrets={("Secret", "ns", "s", "k"): "hush-hush"},
    )

    result = await stage.run()

    assert result.secrets == {"hush-hush"}
    assert "hush" not in repr((result.errors, result.skip_reason, result.warnings, result.params[1].error))


async def test_a_file_whose_path_can_be_none_is_absent() -> None:
    stage = Stage(adapter(params=(param("a", FileSource(Path("/tmp/a\0b"))),)))

    result = await stage.run()

    assert result.status is Status.SUCCESS
    assert "cannot be read" in result.params[0].error
