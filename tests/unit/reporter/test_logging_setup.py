"""The sidecar's log: the form of a line, the levels, and no secret in either form."""

import json
import logging
from collections.abc import Iterator

import pytest

from status_reporter import logging_setup

CONTEXT = {"namespace": "adapters", "job": "a-job"}
SECRET = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


def log(level: str, format_: str) -> logging.Logger:
    logging_setup.configure(level, format_, version="1.2.3", context=CONTEXT)
    return logging.getLogger("status_reporter.test")


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    output = capsys.readouterr()
    assert output.out == "", "standard output belongs to nobody"
    return output.err.splitlines()


def test_a_line_is_one_json_object_with_the_projects_fields(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POD_NAME", "a-pod")
    log("info", "json").info("reported: %s", 'Applied=True\n"quoted" ünïcode')
    (line,) = printed(capsys)
    shown = json.loads(line)
    assert shown.pop("time").endswith("Z")
    assert shown == {
        "level": "info",
        "msg": 'reported: Applied=True\n"quoted" ünïcode',
        "component": "status-reporter",
        "version": "1.2.3",
        "hostname": "a-pod",
        "namespace": "adapters",
        "job": "a-job",
    }


def test_what_is_bound_later_is_on_every_line_from_then_on(capsys: pytest.CaptureFixture[str]) -> None:
    logger = log("info", "json")
    logger.info("before")
    logging_setup.bind(job="another-job", cluster_id="c-1", generation="")
    logger.info("after")
    logging.getLogger("elsewhere").warning("there too")
    before, *after = [json.loads(line) for line in printed(capsys)]
    assert before["job"] == "a-job"
    assert "cluster_id" not in before
    for line in after:
        assert (line["job"], line["cluster_id"], line["namespace"]) == ("another-job", "c-1", "adapters")
        assert "generation" not in line


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        ("debug", ["debug", "info", "warning", "error"]),
        ("info", ["info", "warning", "error"]),
        ("warn", ["warning", "error"]),
        ("warning", ["warning", "error"]),
        ("error", ["error"]),
    ],
)
def test_the_level_decides_which_lines_are_written(
    capsys: pytest.CaptureFixture[str], level: str, shown: list[str]
) -> None:
    logger = log(level, "json")
    for number in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR):
        logger.log(number, "x")
    assert [json.loads(line)["level"] for line in printed(capsys)] == shown


def test_text_is_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    log("info", "text").warning("reporting failed")
    (line,) = printed(capsys)
    assert line.endswith("WARNING reporting failed")


def fail(expected: str) -> None:
    raise ValueError(expected)


@pytest.mark.parametrize("format_", ["json", "text"])
def test_no_secret_is_written_not_even_by_a_traceback(capsys: pytest.CaptureFixture[str], format_: str) -> None:
    logger = log("info", format_)
    logger.info("sent Authorization: Bearer %s", SECRET)
    try:
        fail(f"the token {SECRET} is wrong")
    except ValueError:
        logger.exception("it broke")
    output = "\n".join(printed(capsys))
    assert SECRET not in output
    assert "ValueError" in output
    assert "it broke" in output


def test_an_error_brings_its_traceback_in_the_same_line(capsys: pytest.CaptureFixture[str]) -> None:
    logger = log("info", "json")
    try:
        fail("because")
    except ValueError:
        logger.exception("it broke")
    (line,) = printed(capsys)
    assert "ValueError: because" in json.loads(line)["stack_trace"]
