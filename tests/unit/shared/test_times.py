"""Instants and durations: what is read, what is refused, and what is written."""

import contextlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared import times

PROPERTY = settings(max_examples=100, deadline=None)

# A day away from both ends, so that every offset still names an instant that exists.
INSTANTS = st.datetimes(
    min_value=datetime(1, 1, 2),  # noqa: DTZ001 - the zone is drawn separately
    max_value=datetime(9999, 12, 30),  # noqa: DTZ001 - the zone is drawn separately
    timezones=st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), id="whole seconds"),
        pytest.param("2026-01-02T03:04:05.1Z", datetime(2026, 1, 2, 3, 4, 5, 100000, tzinfo=UTC), id="one digit"),
        pytest.param("2026-01-02T03:04:05.678901Z", datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC), id="micros"),
        pytest.param(
            "2026-01-02T03:04:05.999999999Z", datetime(2026, 1, 2, 3, 4, 5, 999999, tzinfo=UTC), id="nanos are cut"
        ),
        pytest.param("2026-01-02t03:04:05z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), id="lower case"),
        pytest.param("2026-01-02 03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), id="a space for the T"),
        pytest.param("2026-01-02T03:04:05+05:30", datetime(2026, 1, 1, 21, 34, 5, tzinfo=UTC), id="east"),
        pytest.param("2026-01-02T03:04:05-08:00", datetime(2026, 1, 2, 11, 4, 5, tzinfo=UTC), id="west"),
        pytest.param("2024-02-29T00:00:00Z", datetime(2024, 2, 29, tzinfo=UTC), id="leap day"),
        pytest.param("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC), id="Go's zero time"),
    ],
)
def test_a_time_is_read_into_utc(text: str, expected: datetime) -> None:
    parsed = times.parse(text)
    assert parsed == expected
    assert parsed.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("2026-01-02", id="a date"),
        pytest.param("2026-01-02T03:04:05", id="no zone"),
        pytest.param("2026-01-02T03:04Z", id="no seconds"),
        pytest.param("2026-01-02T03:04:05.Z", id="a point without digits"),
        pytest.param("2026-01-02T03:04:05.1234567890Z", id="ten digits"),
        pytest.param("2026-01-02T03:04:05+0530", id="an offset without colon"),
        pytest.param("2026-01-02T03:04:05+24:00", id="an offset of a day"),
        pytest.param("2026-01-02T03:04:05+01:60", id="an offset of sixty minutes"),
        pytest.param("2026-13-02T03:04:05Z", id="a thirteenth month"),
        pytest.param("2026-02-30T03:04:05Z", id="the thirtieth of February"),
        pytest.param("2026-01-02T24:00:00Z", id="hour 24"),
        pytest.param("2026-01-02T03:04:60Z", id="a leap second"),
        pytest.param("0000-01-01T00:00:00Z", id="year 0"),
        pytest.param("0001-01-01T00:00:00+01:00", id="before the first year"),
        pytest.param("9999-12-31T23:59:59-01:00", id="after the last year"),
        pytest.param("2026-01-02T03:04:05Z\n", id="a line end"),
        pytest.param("２０２６-01-02T03:04:05Z", id="digits of another script"),  # noqa: RUF001 - the point of the row
    ],
)
def test_what_is_no_time_is_refused_with_the_text_in_the_message(text: str) -> None:
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 - the message is looked at below
        times.parse(text)
    assert repr(text) in str(refusal.value)


@PROPERTY
@given(INSTANTS)
def test_microseconds_survive_a_round_trip(moment: datetime) -> None:
    assert times.parse(times.to_micros(moment)) == moment


@PROPERTY
@given(INSTANTS)
def test_seconds_survive_a_round_trip_and_never_move_forward(moment: datetime) -> None:
    read = times.parse(times.to_seconds(moment))
    assert read <= moment
    assert moment - read < timedelta(seconds=1)


@PROPERTY
@given(INSTANTS)
def test_every_instant_is_written_at_its_fixed_width(moment: datetime) -> None:
    assert len(times.to_seconds(moment)) == len("2026-01-02T03:04:05Z")
    assert len(times.to_micros(moment)) == len("2026-01-02T03:04:05.678901Z")


@PROPERTY
@given(
    st.from_regex(
        r"[0-9]{4}-[01][0-9]-[0-3][0-9][Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})",
        fullmatch=True,
    )
)
def test_reading_what_looks_like_a_time_gives_an_instant_or_a_value_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert times.parse(text).tzinfo is UTC


@pytest.mark.parametrize("write", [times.to_seconds, times.to_micros])
def test_a_time_without_zone_is_not_written(write: object) -> None:
    assert callable(write)
    with pytest.raises(ValueError, match="without a zone"):
        write(datetime(2026, 1, 2))  # noqa: DTZ001 - the point of the test


def test_now_is_in_utc() -> None:
    assert times.now().tzinfo is UTC


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2", 2.0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("2.", 2.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("20s", 20.0),
        ("500ms", 0.5),
        ("250us", 0.00025),
        ("250µs", 0.00025),
        ("250\u03bcs", 0.00025),
        ("100ns", 1e-7),
        ("1m30s", 90.0),
        ("1.5h", 5400.0),
        ("1h0m0.5s", 3600.5),
    ],
)
def test_a_duration_is_read_as_go_does_or_as_plain_seconds(text: str, seconds: float) -> None:
    assert times.parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "s",
        "1 s",
        "-1s",
        "+1s",
        "1d",
        "1h 30m",
        "1e3",
        "1.5.5s",
        "inf",
        "nan",
        "1S",
        "٣s",
        "9" * 400,
        "9" * 400 + "h",
    ],
    ids=lambda text: f"{text:.12}" or "nothing",
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        times.parse_duration(text)
