"""Slow steps are printed as they end, and none is counted twice."""

import time

import pytest

from lab.real.artifacts import steps
from lab.real.artifacts.steps import step


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "done", [])


def test_a_step_within_another_counts_once() -> None:
    started = time.monotonic()
    with step("outer"), step("inner"):
        until = time.monotonic() + 0.02
        while time.monotonic() < until:
            pass
    elapsed = time.monotonic() - started

    inner, outer = steps.done
    assert (inner.what, outer.what) == ("inner", "outer")
    assert inner.seconds >= 0.02
    assert inner.seconds + outer.seconds <= elapsed


def test_a_long_one_is_announced_and_each_is_printed_with_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    with step("build etcd", warning="some minutes"):
        assert capsys.readouterr().err == "build etcd (some minutes) ...\n"

    assert capsys.readouterr().err.endswith(" s  build etcd\n")


def test_one_that_failed_is_not_printed_as_done(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), step("divide"):
        _ = 1 / 0

    assert steps.done == []
    assert capsys.readouterr().err == ""
