"""What may stand in a report file: reports, things that look like reports, and anything else that fits in bytes."""

import json
from typing import Any

from hypothesis import strategies as st

_LIMIT = 1024 * 1024
_STRANGE = "\0\x07\x1b\u00ad\u0301\u200d\u202e\u2028\ufeff\ufffd\uffff😀\U0010ffff"
_TEXTS = st.text(st.characters(codec="utf-8"), max_size=40) | st.text(_STRANGE, max_size=20)
_LONG_TEXTS = st.builds(lambda text, times: text * times, _TEXTS, st.integers(50, 3000))
_NAMES = _TEXTS | st.integers(60, 70_000).map(lambda size: "n" * size)
_NUMBERS = (
    st.integers()
    | st.sampled_from([2**53 + 1, -(2**63), 2**64, 10**400, 1e308, -1e-308, 5e-324, 0.1])
    | st.floats(allow_nan=False, allow_infinity=False)
)
_VALUES = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXTS | _LONG_TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=12,
)
_DEEP = st.integers(2, 90).map(lambda depth: json.loads("[" * depth + "]" * depth))
_DATA = st.dictionaries(_NAMES, _VALUES | _DEEP, max_size=6)

_TYPES = (
    st.sampled_from(["Applied", "Available", "Health", "Finalized", "Complete", "Failed", "example.com/Ready"])
    | st.from_regex(r"[A-Za-z]([A-Za-z0-9_.-]{0,60}[A-Za-z0-9])?", fullmatch=True)
    | st.just(f"{'d' * 253}/{'T' * 62}")
)
_TIMES = st.sampled_from(["2026-01-02T03:04:05Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999+00:00"])
_GENERATIONS = st.integers(0, 2**63 - 1) | st.sampled_from([3.0, 1e18])
_CONDITIONS = st.fixed_dictionaries(
    {"type": _TYPES, "status": st.sampled_from(["True", "False", "Unknown"])},
    optional={
        "reason": _TEXTS | _LONG_TEXTS,
        "message": _TEXTS | _LONG_TEXTS,
        "lastTransitionTime": _TIMES,
        "observedGeneration": _GENERATIONS,
    },
)
_OWN = st.fixed_dictionaries(
    {"conditions": st.lists(_CONDITIONS, min_size=1, max_size=5, unique_by=lambda each: each["type"])},
    optional={"data": _DATA, "details": _VALUES, "observedGeneration": _GENERATIONS, "status": _TEXTS},
)
_GO = st.fixed_dictionaries(
    {"status": st.sampled_from(["success", "failure"])},
    optional={"reason": _TEXTS | _LONG_TEXTS, "message": _TEXTS | _LONG_TEXTS, "details": _VALUES},
)
_CLI = st.fixed_dictionaries(
    {
        "name": _TEXTS,
        "consumer": _TEXTS,
        "status": st.sampled_from(["Applied", "Failed", "Deleted", "Waiting"]) | _TEXTS,
    },
    optional={"message": _TEXTS | _LONG_TEXTS, "conditions": st.lists(_CONDITIONS, max_size=2), "resources": _VALUES},
)


@st.composite
def _written(draw: st.DrawFn) -> bytes:
    """A document as some program writes it."""
    document: Any = draw(_OWN | _GO | _CLI)
    ascii_only, indent = draw(st.booleans()), draw(st.sampled_from([None, 1]))
    text = json.dumps(document, ensure_ascii=ascii_only, indent=indent)
    return text.encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig"])))


@st.composite
def _damaged(draw: st.DrawFn) -> bytes:
    """A document that lost, gained or changed something in the middle."""
    whole = draw(_written())
    start = draw(st.integers(0, len(whole)))
    end = draw(st.integers(start, min(len(whole), start + 20)))
    return whole[:start] + draw(st.binary(max_size=8)) + whole[end:]


_NASTY = st.sampled_from(
    [
        b"",
        b"\xef\xbb\xbf",
        b"null",
        b"{}",
        b'{"conditions": null, "status": "success", "data": null}',
        b'{"status": "success", "message": "\\ud800"}',
        b'{"status": "success", "reason": "\\ud83d\\ude00"}',
        b'{"status": "success", "data": {"\\udfff": 1}}',
        b'{"status": "success", "data": {"n": NaN, "i": -Infinity}}',
        b'{"status": "success", "data": {"n": 1e999}}',
        b'{"status": "success", "data": {"n": ' + b"9" * 5000 + b"}}",
        b'{"status": "success", "status": "failure"}',
        b'{"conditions": [{"type": "A", "status": "True"}, {"type": "A", "status": "False"}]}',
        b'{"conditions": [{"$patch": "delete", "type": "A", "status": "True"}]}',
        b'{"conditions": [{"type": "$patch", "status": "True"}]}',
        b'{"status": "success", "data": {"$patch": "replace", "$retainKeys": []}}',
        b'{"conditions": [{"type": "A", "status": "True", "lastTransitionTime": "2026-02-30T00:00:00Z"}]}',
        b'{"conditions": [{"type": "A", "status": "True", "observedGeneration": -1}]}',
        '{"status": "success"}'.encode("utf-16"),
        b"[" * 200_000,
        b'{"a":' * 100_000,
        b'{"status": "success", "data": ' + b'{"a":' * 61 + b"1" + b"}" * 61 + b"}",
        json.dumps({"conditions": [{"type": f"T{each}", "status": "True"} for each in range(20_000)]}).encode(),
        json.dumps({"conditions": [{"type": f"T{each}", "status": "True", "message": "é" * 3000} for each in range(100)]}).encode(),
        json.dumps({"status": "success", "data": {f"member-{each}": each for each in range(30_000)}}).encode(),
        b'{"status": "success", "message": "' + b"x" * (_LIMIT - 40) + b'"}',
        b" " * (_LIMIT + 1),
    ]
)  # fmt: skip

CONTENTS = st.one_of(_written(), _written(), _damaged(), _NASTY, st.binary(max_size=200))
