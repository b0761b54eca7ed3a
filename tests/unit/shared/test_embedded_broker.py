"""The embedded broker's frames: whatever is written is read back, and whatever else comes in is refused with a reason."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.embedded_broker import (
    MAX_LINE,
    Ack,
    Cancel,
    Cancelled,
    Deliver,
    Frame,
    Nack,
    Publish,
    Published,
    Refused,
    Subscribe,
    Subscribed,
    decode,
    encode,
)
from shared.errors import Invalid

NUMBERS = st.integers(min_value=0)
TEXT = st.text(st.characters(codec="utf-8"))
FRAMES: st.SearchStrategy[Frame] = st.one_of(
    st.builds(Publish, number=NUMBERS, topic=TEXT, body=st.binary()),
    st.builds(Published, number=NUMBERS),
    st.builds(Subscribe, topic=TEXT, subscription=TEXT, prefetch=NUMBERS),
    st.just(Subscribed()),
    st.builds(Deliver, tag=NUMBERS, body=st.binary(), redelivered=st.booleans()),
    st.builds(Ack, tag=NUMBERS),
    st.builds(Nack, tag=NUMBERS, requeue=st.booleans()),
    st.just(Cancel()),
    st.just(Cancelled()),
    st.builds(Refused, reason=TEXT),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(FRAMES)
def test_a_frame_is_one_line_and_is_read_back_as_it_was(frame: Frame) -> None:
    line = encode(frame)

    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line) == frame


def test_a_published_message_on_the_wire() -> None:
    line = encode(Publish(number=7, topic="clusters", body=b'{"specversion":"1.0"}'))

    assert line == b'{"frame":"publish","number":7,"topic":"clusters","body":"eyJzcGVjdmVyc2lvbiI6IjEuMCJ9"}\n'


@pytest.mark.parametrize(
    ("line", "why"),
    [
        pytest.param(b"", "it is not JSON", id="nothing"),
        pytest.param(b"GET / HTTP/1.1\r\n", "it is not JSON", id="another protocol"),
        pytest.param(b"\xff\xfe\n", "it is not JSON", id="no text"),
        pytest.param(b"[" * 100_000, "it is not JSON", id="nested too deeply"),
        pytest.param(b"[]", "it is not a JSON object", id="a list"),
        pytest.param(b"{}", "its kind None is not known", id="no kind"),
        pytest.param(b'{"frame":["ack"]}', "its kind ['ack'] is not known", id="a kind that is no text"),
        pytest.param(b'{"frame":"subscribe","topic":"t"}', "'subscription' must be of type str", id="a missing member"),
        pytest.param(b'{"frame":"ack","tag":"1"}', "'tag' must be of type int", id="a number as text"),
        pytest.param(b'{"frame":"ack","tag":true}', "'tag' must be of type int", id="a boolean as number"),
        pytest.param(b'{"frame":"ack","tag":-1}', "'tag' must not be negative", id="a negative number"),
        pytest.param(
            b'{"frame":"nack","tag":1,"requeue":0}', "'requeue' must be of type bool", id="a number as boolean"
        ),
        pytest.param(
            b'{"frame":"publish","number":1,"topic":"t","body":"%"}', "'body' is not base64", id="a body in clear"
        ),
        pytest.param(b'{"frame":"publish","number":1,"topic":"t"}', "'body' is not base64", id="no body"),
    ],
)
def test_what_is_no_frame_is_refused_with_the_reason(line: bytes, why: str) -> None:
    with pytest.raises(Invalid) as refused:
        decode(line)

    assert refused.value.why == why


@given(st.binary() | JSON.map(lambda document: json.dumps(document).encode()))
def test_no_line_raises_anything_but_invalid(line: bytes) -> None:
    with contextlib.suppress(Invalid):
        assert decode(line).kind in json.loads(line)["frame"]


def test_a_refusal_quotes_only_the_beginning_of_the_line() -> None:
    with pytest.raises(Invalid) as refused:
        decode(b"x" * 5000)

    assert len(refused.value.what) < 300


def test_members_of_later_versions_are_ignored() -> None:
    assert decode(b'{"frame":"ack","tag":1,"later":{}}') == Ack(tag=1)


def test_a_body_that_does_not_fit_a_line_is_refused_before_it_is_sent() -> None:
    with pytest.raises(Invalid, match="too large"):
        encode(Publish(number=1, topic="t", body=bytes(MAX_LINE)))
