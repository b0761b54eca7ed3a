"""Secrets that a run has read are shown nowhere, however they are spelt."""

import json
from base64 import b64encode
from typing import Any
from urllib.parse import quote

import pytest

from dispatcher.engine.redaction import redact_secrets

SECRET = 'pa"ss/wörd\n'


@pytest.mark.parametrize(
    "shown",
    [
        pytest.param(SECRET, id="as it is"),
        pytest.param(f"Bearer {SECRET.strip()}!", id="inside a text, without white space"),
        pytest.param(json.dumps({"a": SECRET}), id="inside JSON"),
        pytest.param(json.dumps({"a": SECRET}, ensure_ascii=False), id="inside JSON that is not ASCII"),
        pytest.param(json.dumps(json.dumps({"a": SECRET})), id="inside JSON inside JSON"),
        pytest.param(f"/x?token={quote(SECRET, safe='')}", id="inside a URL"),
        pytest.param(b64encode(SECRET.encode()).decode(), id="encoded for a Secret"),
        pytest.param({"a": [{"b": SECRET}], SECRET: 1}, id="deep inside, and as a key"),
    ],
)
def test_a_secret_is_redacted(shown: Any) -> None:
    redacted = json.dumps(redact_secrets(shown, {SECRET}), ensure_ascii=False)

    for trace in ("wörd", "w\\u00f6rd", "w%C3%B6rd", b64encode(SECRET.encode()).decode()):
        assert trace not in redacted


def test_a_short_secret_is_redacted_only_where_it_is_the_whole_value() -> None:
    assert redact_secrets({"a": "no", "b": "nothing", "c": 12, "d": True}, {"no", "12"}) == {
        "a": "***",
        "b": "nothing",
        "c": "***",
        "d": True,
    }


def test_without_secrets_nothing_changes() -> None:
    value = {"a": [1]}

    assert redact_secrets(value, set()) is value
