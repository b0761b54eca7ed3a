"""Events and the documents that are kept of them: nothing is lost on the way but what Go loses."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.maestro.storage import documents, go_types
from lab.maestro.storage.documents import NotAnEvent, Unreadable
from shared.maestro.wire.cloudevent_pb2 import CloudEvent

SAFE = 2**53


def event(**attributes: Any) -> CloudEvent:
    made = CloudEvent(id="1", source="s", spec_version="1.0", type="a.b.c.spec.create_request")
    for name, value in attributes.items():
        kind = {str: "ce_string", int: "ce_integer", bool: "ce_boolean"}[type(value)]
        setattr(made.attributes[f"ce-{name}"], kind, value)
    made.attributes["contenttype"].ce_string = "application/json"
    return made


def test_an_event_survives_being_stored() -> None:
    sent = event(clustername="c", resourceversion=1, flag=True, empty="", metadata='{"name":"w"}')
    sent.attributes["ce-time"].ce_timestamp.FromJsonString("2026-01-02T03:04:05.123456789Z")
    sent.binary_data = b'{"manifests":[],"text":"<&> \xc3\xbc"}'

    assert documents.event_of(documents.stored(documents.document_of(sent))) == sent


def test_times_other_than_the_events_own_become_texts_and_bytes_base64() -> None:
    sent = event()
    sent.attributes["ce-stamp"].ce_timestamp.FromJsonString("2026-01-02T03:04:05Z")
    sent.attributes["ce-raw"].ce_bytes = b"abc"

    back = documents.event_of(documents.stored(documents.document_of(sent)))
    assert back.attributes["ce-stamp"].ce_string == "2026-01-02T03:04:05Z"
    assert back.attributes["ce-raw"].ce_string == "YWJj"


def test_the_metadata_is_kept_as_an_object_so_that_it_can_be_searched() -> None:
    kept = documents.stored(documents.document_of(event(metadata='{"labels":{"a":"b"}}')))
    assert kept["metadata"] == {"labels": {"a": "b"}}


@pytest.mark.parametrize("name", ["ce-Bad_Name", "ce-ü", "ce-"])
def test_an_extension_must_have_a_name_of_letters_and_digits(name: str) -> None:
    sent = event()
    sent.attributes[name].ce_string = "x"
    with pytest.raises(NotAnEvent, match="bad key, CloudEvents attribute names MUST consist"):
        documents.document_of(sent)


@given(st.integers(-SAFE, SAFE))
def test_integers_that_float64_holds_stay_what_they_are(number: int) -> None:
    assert documents.load(str(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_the_same_float64_before_and_after(number: float) -> None:
    loaded = documents.load(json.dumps(number))
    assert float(loaded) == number
    assert isinstance(loaded, int) is (number.is_integer() and abs(number) < 1e21)


@given(st.integers(SAFE, 10**21 - 10**5))
def test_large_integers_keep_their_first_seventeen_digits(number: int) -> None:
    loaded = documents.load(str(number))
    assert float(loaded) == float(number)
    assert len(str(loaded).rstrip("0")) <= 17


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e400", "{", "", "[1,]", "{} x", "[" * 20000])
def test_what_go_does_not_read_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        documents.load(text)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("7", 7),
        (" 7", None),
        ("7.0", 7),
        ("7.9", 7),
        (7, 7),
        (True, None),
        (None, None),
        ("x", None),
        ("9999999999", None),
        ("1_0", None),
        ("nan", None),
    ],
)
def test_a_version_is_a_number_or_its_digits(value: Any, number: int | None) -> None:
    if number is None:
        with pytest.raises(Unreadable, match="failed to get resourceversion extension"):
            documents.number({"resourceversion": value}, "resourceversion")
    else:
        assert documents.number({"resourceversion": value}, "resourceversion") == number


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
BUNDLES = st.fixed_dictionaries(
    {},
    optional={
        "manifests": st.none() | st.lists(st.dictionaries(st.text(max_size=3), JSON, max_size=2), max_size=2),
        "deleteOption": st.none() | st.fixed_dictionaries({}, optional={"propagationPolicy": st.text(max_size=3)}),
        "manifestConfigs": st.none() | st.lists(st.fixed_dictionaries({"unknown": JSON}), max_size=2),
        "executer": st.none() | st.just({}),
        "unknown": JSON,
    },
)


@given(BUNDLES)
def test_reading_into_gos_types_twice_changes_nothing_more(bundle: dict[str, Any]) -> None:
    once = go_types.fit(bundle, go_types.MANIFEST_BUNDLE)
    assert go_types.fit(once, go_types.MANIFEST_BUNDLE) == once
    assert "unknown" not in once
    assert once["manifests"] == bundle.get("manifests")


@given(JSON)
def test_any_json_either_fits_or_is_refused_with_gos_text(value: Any) -> None:
    refused = ""
    try:
        go_types.fit(value, go_types.BUNDLE_STATUS)
    except go_types.Misfit as misfit:
        refused = str(misfit)
    assert not refused or refused.startswith("json: cannot unmarshal ")
