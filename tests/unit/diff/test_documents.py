"""What a diff shows of two states: no bookkeeping, no secrets, but whether a secret changes."""

from typing import Any

import pytest

from dispatcher.diff.documents import fields_of, shown_pair, unified
from dispatcher.diff.objects import parse_selector
from dispatcher.dryrun.showing import Shown
from shared.errors import Invalid

NOTHING_READ = Shown(())


def secret(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "resourceVersion": "7"}, "data": data}


def test_bookkeeping_and_status_are_not_shown() -> None:
    before, _ = shown_pair({**secret(), "status": {"phase": "x"}}, None, NOTHING_READ)

    assert before == {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {}}


def test_a_secret_shows_which_of_its_values_change() -> None:
    before, after = shown_pair(secret(kept="a", changed="b", dropped="c"), secret(kept="a", changed="x"), NOTHING_READ)

    assert before["data"] == {"kept": "***", "changed": "*** (before)", "dropped": "***"}
    assert after["data"] == {"kept": "***", "changed": "*** (after)"}


def test_a_secret_inside_a_work_is_no_exception() -> None:
    works = [{"kind": "ManifestWork", "metadata": {}, "spec": {"list": [secret(key=value)]}} for value in "ab"]

    before, after = shown_pair(works[0], works[1], NOTHING_READ)

    assert before["spec"]["list"][0]["data"] == {"key": "*** (before)"}
    assert after["spec"]["list"][0]["data"] == {"key": "*** (after)"}


def test_what_the_run_read_from_a_secret_is_not_shown_anywhere() -> None:
    found = {"kind": "ConfigMap", "metadata": {}, "data": {"url": "https://user:hunter22@host"}}

    _, after = shown_pair(None, found, Shown(("hunter22",)))

    assert "hunter22" not in str(after)


def test_a_change_that_may_not_be_shown_is_mentioned() -> None:
    documents = [{"kind": "Job", "metadata": {}, "spec": {"token": value}} for value in ("one", "two")]

    lines = list(unified(*shown_pair(documents[0], documents[1], NOTHING_READ), names=("live", "config")))

    assert lines == ["--- live", "+++ config", "# a value that is not shown changes"]


def test_only_the_manifests_own_fields_are_compared() -> None:
    found = {"spec": {"a": 1, "defaulted": 2, "list": [{"b": 3, "defaulted": 4}]}, "status": {}}

    assert fields_of(found, {"spec": {"a": 0, "list": [{"b": 0}]}}) == {"spec": {"a": 1, "list": [{"b": 3}]}}


@pytest.mark.parametrize(
    ("text", "labels"),
    [("a=b", {"a": "b"}), ("a==b, c.d/e=f", {"a": "b", "c.d/e": "f"}), ("a=", {"a": ""})],
)
def test_a_selector_is_labels(text: str, labels: dict[str, str]) -> None:
    assert parse_selector(text) == labels


@pytest.mark.parametrize("text", ["", "a", "a!=b", "a in (b)", "a=b,", "a='b'", "a=b' or name='x"])
def test_a_selector_that_is_not_labels_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="write key=value"):
        parse_selector(text)
