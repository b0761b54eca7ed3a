"""Log lines: their two forms, their fields, and that nothing anybody does makes a secret leak into them."""

import asyncio
import io
import json
import logging
import os
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
import structlog

from shared import logs
from shared.errors import Misconfigured

SECRET = "s3cr3t-V4lue"
BOTH_KINDS = pytest.mark.parametrize("logger", [logs.get, logging.getLogger], ids=["ours", "the standard one"])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Lines:
    stream: io.StringIO

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    @property
    def event(self) -> dict[str, Any]:
        (event,) = self.events
        return event


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    root, httpx = logging.getLogger(), logging.getLogger("httpx")
    handlers, level, httpx_level = root.handlers[:], root.level, httpx.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    httpx.setLevel(httpx_level)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def configured(format_: str = "json", level: str = "info", stream: io.StringIO | None = None) -> Lines:
    stream = stream or io.StringIO()
    logs.configure(component="adapter", version="1.2.3", level=level, format_=format_, stream=stream)
    return Lines(stream)


class TestALine:
    def test_it_has_the_fields_of_the_go_framework(self) -> None:
        lines = configured()
        logs.get("x").info("work applied", cluster_id="c1")
        event = lines.event
        assert datetime.fromisoformat(event.pop("time")).utcoffset() is not None
        assert event.pop("hostname") == (os.environ.get("POD_NAME") or socket.gethostname())
        assert event == {
            "level": "info",
            "msg": "work applied",
            "component": "adapter",
            "version": "1.2.3",
            "cluster_id": "c1",
        }

    def test_the_pods_name_is_the_host_where_there_is_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("POD_NAME", "adapter-0")
        lines = configured()
        logs.get("x").info("hello")
        assert lines.event["hostname"] == "adapter-0"

    def test_the_standard_module_writes_the_same_fields(self) -> None:
        lines = configured()
        logging.getLogger("some.library").warning("retrying in %d s", 5, extra={"manifestwork": "w1"})
        event = lines.event
        assert (event["level"], event["msg"], event["component"]) == ("warning", "retrying in 5 s", "adapter")
        assert event["manifestwork"] == "w1"

    def test_placeholders_are_filled_in_by_both(self) -> None:
        lines = configured()
        logs.get("x").info("%s of %d", "one", 2)
        logging.getLogger("x").info("%s of %d", "one", 2)
        logging.getLogger("x").info("%(a)s of %(b)d", {"a": "one", "b": 2})
        assert [event["msg"] for event in lines.events] == ["one of 2"] * 3
        assert not any("positional_args" in event for event in lines.events)

    def test_context_is_on_every_line_of_its_task_and_of_no_other(self) -> None:
        lines = configured()

        async def reconcile(cluster: str) -> None:
            structlog.contextvars.bind_contextvars(cluster_id=cluster)
            await asyncio.sleep(0)
            logs.get("x").info("ours")
            logging.getLogger("y").info("a library's")

        async def story() -> None:
            await asyncio.gather(reconcile("c1"), reconcile("c2"))

        asyncio.run(story())
        logs.get("x").info("after")
        assert [event.get("cluster_id") for event in lines.events] == ["c1", "c1", "c2", "c2", None]

    def test_a_bound_logger_carries_its_fields(self) -> None:
        lines = configured()
        logs.get("x").bind(manifestwork="w1").info("hello", maestro_consumer="m1")
        assert (lines.event["manifestwork"], lines.event["maestro_consumer"]) == ("w1", "m1")

    def test_it_is_one_line_whatever_it_says(self) -> None:
        lines = configured()
        logs.get("x").info("one\ntwo", value={"a": ["b", {"c": "d\ne"}]}, name="zwölf", raw=b"bytes", odd=object)
        event = lines.event
        assert event["msg"] == "one\ntwo"
        assert event["value"] == {"a": ["b", {"c": "d\ne"}]}
        assert (event["name"], event["raw"]) == ("zwölf", "bytes")
        assert "zwölf" in lines.text

    @BOTH_KINDS
    def test_an_exception_comes_with_its_traceback(self, logger: Callable[[str], Any]) -> None:
        lines = configured()
        logger("x").error("it failed", exc_info=failure("the cause"))
        event = lines.event
        assert (event["level"], event["msg"]) == ("error", "it failed")
        assert "Traceback" in event["stack_trace"]
        assert "ValueError: the cause" in event["stack_trace"]


class TestTheForm:
    def test_a_terminal_gets_text(self) -> None:
        lines = configured("auto", stream=Terminal())
        logs.get("x").info("work applied", cluster_id="c1")
        assert "work applied" in lines.text
        assert "cluster_id" in lines.text
        assert not lines.text.startswith("{")

    def test_anything_else_gets_json(self) -> None:
        lines = configured("auto")
        logs.get("x").info("work applied")
        assert lines.event["msg"] == "work applied"

    @pytest.mark.parametrize("stream", [Terminal(), io.StringIO()], ids=["terminal", "file"])
    def test_what_is_asked_for_wins(self, stream: io.StringIO) -> None:
        lines = configured("json", stream=stream)
        logs.get("x").info("hello")
        assert lines.event["msg"] == "hello"

    def test_a_terminal_has_colours_unless_its_user_wants_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("NO_COLOR", raising=False)
        coloured = configured("text", stream=Terminal())
        logs.get("x").info("hello")
        assert "\x1b[" in coloured.text
        monkeypatch.setenv("NO_COLOR", "1")
        plain = configured("text", stream=Terminal())
        logs.get("x").info("hello")
        assert "\x1b[" not in plain.text

    def test_text_for_a_file_has_no_colours(self) -> None:
        lines = configured("text")
        logs.get("x").error("it failed", cluster_id="c1")
        assert "\x1b" not in lines.text

    def test_text_shows_exceptions_too(self) -> None:
        lines = configured("text")
        logs.get("x").error("it failed", exc_info=failure("the cause"))
        assert "ValueError: the cause" in lines.text

    @pytest.mark.parametrize(
        ("level", "expected"),
        [
            ("debug", ["debug", "info", "warning", "error"]),
            ("info", ["info", "warning", "error"]),
            ("warn", ["warning", "error"]),
            ("warning", ["warning", "error"]),
            ("error", ["error"]),
        ],
    )
    def test_the_level_holds_for_both_kinds_of_logger(self, level: str, expected: list[str]) -> None:
        lines = configured(level=level)
        for logger in (logs.get("x"), logging.getLogger("y")):
            for method in ("debug", "info", "warning", "error"):
                getattr(logger, method)("hello")
        assert [event["level"] for event in lines.events] == expected * 2

    def test_the_http_library_does_not_log_every_request(self) -> None:
        lines = configured()
        logging.getLogger("httpx").info("HTTP Request: GET")
        logging.getLogger("httpx").warning("odd")
        assert lines.event["msg"] == "odd"

    def test_configuring_again_replaces_and_does_not_repeat(self) -> None:
        before, after = configured(), configured()
        logs.get("x").info("hello")
        assert before.text == ""
        assert after.event["msg"] == "hello"


class TestTheSettings:
    @pytest.mark.parametrize("name", ["stdout", "stderr"])
    def test_they_come_from_the_environment(self, name: str, capsys: pytest.CaptureFixture[str]) -> None:
        environment = {"LOG_LEVEL": "DEBUG", "LOG_FORMAT": "JSON", "LOG_OUTPUT": name}
        logs.configure_from(environment, component="adapter", version="1")
        logs.get("x").debug("hello")
        assert json.loads(getattr(capsys.readouterr(), name.removeprefix("std")))["msg"] == "hello"

    def test_nothing_set_means_info_as_json_to_standard_error(self, capsys: pytest.CaptureFixture[str]) -> None:
        logs.configure_from({"LOG_LEVEL": ""}, component="adapter", version="1")
        logs.get("x").debug("not seen")
        logs.get("x").info("hello")
        captured = capsys.readouterr()
        assert captured.out == ""
        assert json.loads(captured.err)["msg"] == "hello"

    def test_all_that_is_wrong_is_reported_at_once(self) -> None:
        environment = {"LOG_LEVEL": "loud", "LOG_FORMAT": "xml", "LOG_OUTPUT": "printer"}
        with pytest.raises(Misconfigured) as refusal:
            logs.configure_from(environment, component="adapter", version="1")
        assert [problem.path for problem in refusal.value.problems] == ["LOG_LEVEL", "LOG_FORMAT", "LOG_OUTPUT"]


class TestTheContext:
    @BOTH_KINDS
    def test_what_is_bound_once_is_on_every_line(self, logger: Callable[[str], Any]) -> None:
        lines = configured()
        logs.bind(cluster_id="c-1", generation=3, consumer=None, job="j-1")
        logger("one").info("first")
        logger("two").warning("second")
        for event in lines.events:
            assert {key: event[key] for key in ("cluster_id", "generation", "job")} == {
                "cluster_id": "c-1",
                "generation": 3,
                "job": "j-1",
            }
            assert "consumer" not in event

    def test_it_reaches_tasks_that_start_later(self) -> None:
        lines = configured()

        async def story() -> None:
            logs.bind(cluster_id="c-1")
            await asyncio.create_task(asyncio.to_thread(logs.get("x").info, "hello"))

        asyncio.run(story())
        assert lines.event["cluster_id"] == "c-1"


class Settings:
    def __str__(self) -> str:
        return f"Settings(password={SECRET}, host=x)"

    __repr__ = __str__


PEM = f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n-----END PRIVATE KEY-----"
JWT = f"eyJhbGciOiJSUzI1NiJ9.{SECRET}.c2lnbmF0dXJl"


def fail(text: str) -> None:
    try:
        int(f"Authorization: Bearer {SECRET}")
    except ValueError as error:
        raise ValueError(text) from error


def failure(text: str) -> ValueError:
    """An error with a traceback, caused by another that carries a secret."""
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the error itself is what is wanted
        fail(text)
    return raised.value


# What is passed to `info`: the message and its arguments.
ATTEMPTS: dict[str, tuple[Any, ...]] = {
    "a message": (f"token={SECRET}",),
    "a positional argument": ("password=%s", SECRET),
    "positional arguments as a mapping": ("password=%(p)s", {"p": SECRET}),
    "a positional argument that is a mapping": ("got %s", {"password": SECRET}),
    "a positional argument that is an object": ("got %s", Settings()),
    "a positional argument in bytes": ("got %s", f"token={SECRET}".encode()),
    "too few arguments": ("password=%s user=%s", SECRET),
    "too many arguments": ("hello", f"password={SECRET}"),
    "an argument of the wrong kind": ("count=%d", f"token={SECRET}"),
    "an object as message": (Settings(),),
    "an error as argument": ("it failed: %s", failure(f"token={SECRET}")),
    "a private key": (f"read {PEM}",),
    "a URL": (f"dialing amqp://guest:{SECRET}@broker:5672/",),
    "a signed token": (f"got {JWT}",),
    "a header": (f"sent Authorization: Bearer {SECRET}",),
    "JSON": (json.dumps({"token": SECRET}),),
}
FIELDS: dict[str, dict[str, Any]] = {
    "a secret field": {"token": SECRET},
    "a nested field": {"request": {"headers": {"Authorization": f"Bearer {SECRET}", "x": [1]}}},
    "a list of pairs": {"headers": [("x-api-key", SECRET)]},
    "a field in bytes": {"body": f'{{"password": "{SECRET}"}}'.encode()},
    "an object": {"settings": Settings()},
    "an object in a list": {"all": [Settings()]},
    "an error": {"error": ValueError(f"token: {SECRET}")},
    "a Secret": {"manifest": {"kind": "Secret", "data": {"x": SECRET}}},
    "an environment variable": {"env": [{"name": "DB_PASSWORD", "value": SECRET}]},
    "a private key": {"tls": PEM},
}


@pytest.mark.parametrize("format_", ["json", "text"])
class TestSecrets:
    @pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
    @BOTH_KINDS
    def test_no_message_leaks(
        self, format_: str, logger: Callable[[str], Any], attempt: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
    ) -> None:
        lines = configured(format_)
        logger("x").info(*attempt)
        captured = capsys.readouterr()
        assert lines.text
        assert SECRET not in lines.text + captured.out + captured.err

    @BOTH_KINDS
    def test_no_traceback_leaks(self, format_: str, logger: Callable[[str], Any]) -> None:
        lines = configured(format_)
        logger("x").error("it failed", exc_info=failure(f"cannot reach https://user:{SECRET}@host"))
        assert "The above exception was the direct cause" in lines.text
        assert SECRET not in lines.text

    @pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)
    def test_no_field_leaks(self, format_: str, fields: dict[str, Any]) -> None:
        lines = configured(format_)
        logs.get("x").info("hello", **fields)
        logs.get("x").bind(**fields).info("hello")
        logging.getLogger("x").info("hello", extra=fields)
        with structlog.contextvars.bound_contextvars(**fields):
            logs.get("x").info("hello")
        assert lines.text.count("hello") == 4
        assert SECRET not in lines.text

    def test_a_line_that_cannot_be_written_shows_where_it_came_from_and_nothing_else(
        self, format_: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        lines = configured(format_)
        logs.get("x").info("%d", f"password={SECRET}", token=SECRET)
        captured = capsys.readouterr()
        assert "test_logs.py" in lines.text
        assert SECRET not in lines.text + captured.out + captured.err


def test_a_wrong_line_does_not_stop_the_ones_after_it() -> None:
    lines = configured()
    wrong = ("%s %s", "only one")
    logging.getLogger("x").info(*wrong)
    logs.get("x").info(*wrong)
    logging.getLogger("x").info("last")
    assert [event["level"] for event in lines.events] == ["error", "error", "info"]
    assert all("test_logs.py" in event["msg"] for event in lines.events[:2])


def test_a_stream_that_is_gone_breaks_nobody() -> None:
    stream = io.StringIO()
    configured(stream=stream)
    stream.close()
    logs.get("x").info("hello")
