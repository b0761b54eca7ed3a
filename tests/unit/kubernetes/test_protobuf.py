"""Whatever bytes a client sends as protobuf, they are an object or an error that the server answers."""

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from lab.kubernetes.http_api.protobuf import NotReadable, decode

PREFIX = b"k8s\x00"
HEADERS = st.sampled_from(
    [b"\x0a\x0f\x0a\x02v1\x12\x09Namespace", b"\x0a\x0c\x0a\x02v1\x12\x06Secret", b"\x0a\x03\x12\x01X", b""]
)
FIELDS = st.lists(
    st.tuples(st.integers(1, 15), st.sampled_from([0, 2]), st.binary(max_size=20)).map(
        lambda field: bytes([field[0] << 3 | field[1]]) + (bytes([len(field[2])]) + field[2] if field[1] else b"\x01")
    ),
    max_size=6,
).map(b"".join)


@given(HEADERS, FIELDS | st.binary(max_size=60))
def test_any_message_is_an_object_or_not_readable(header: bytes, fields: bytes) -> None:
    nested = b"\x12" + bytes([len(fields) & 0x7F]) + fields
    with contextlib.suppress(NotReadable):
        assert isinstance(decode(PREFIX + header + nested), dict)


@given(st.binary(max_size=60))
def test_any_bytes_are_an_object_or_not_readable(content: bytes) -> None:
    with contextlib.suppress(NotReadable):
        assert isinstance(decode(PREFIX + content), dict)


def test_names_and_labels_are_read() -> None:
    label = b"\x0a\x04tier\x12\x04gold"
    metadata = b"\x0a\x04demo" + b"\x5a" + bytes([len(label)]) + label
    raw = b"\x0a" + bytes([len(metadata)]) + metadata
    content = PREFIX + b"\x0a\x0f\x0a\x02v1\x12\x09Namespace" + b"\x12" + bytes([len(raw)]) + raw

    assert decode(content) == {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "demo", "labels": {"tier": "gold"}},
    }
