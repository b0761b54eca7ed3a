"""The adapter's report: the three forms, the published schema, and everything that can be wrong with a file."""

import contextlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from shared.errors import InvalidReport
from shared.model.conditions import Condition, Status
from shared.model.report import AdapterReport, schema
from shared.untrusted_json import MAX_BYTES, MAX_DEPTH

PROPERTY = settings(max_examples=80, deadline=None)
VALIDATOR = Draft202012Validator(schema())
MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
REPORT = AdapterReport(
    conditions=(
        Condition(type="Applied", status=Status.TRUE, reason="Applied", message="all there"),
        Condition(
            type="Available", status=Status.FALSE, reason="Waiting", message="zwölf", last_transition_time=MOMENT
        ),
    ),
    data={"endpoint": "https://api.example"},
    observed_generation=4,
    details={"attempts": 2},
)

TEXTS = st.text(st.characters(codec="utf-8"), max_size=10)
SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
)
OBJECTS = st.dictionaries(TEXTS, SCALARS | st.lists(SCALARS, max_size=2), max_size=3)
CONDITIONS = st.builds(
    Condition,
    type=st.sampled_from(["Applied", "Available", "Health", "example.com/Ready", "a-b_c.D"]),
    status=st.sampled_from(Status),
    reason=TEXTS,
    message=TEXTS,
    last_transition_time=st.none() | st.just(MOMENT),
    observed_generation=st.none() | st.integers(0, 2**63 - 1),
)
REPORTS = st.builds(
    AdapterReport,
    conditions=st.lists(CONDITIONS, min_size=1, max_size=4, unique_by=lambda each: each.type).map(tuple),
    data=OBJECTS,
    observed_generation=st.none() | st.integers(0, 2**63 - 1),
    details=OBJECTS,
)


def parse(document: Any, **options: str) -> AdapterReport:
    return AdapterReport.parse(json.dumps(document).encode(), **options)


class TestWhatIsWritten:
    @PROPERTY
    @given(REPORTS)
    def test_it_is_read_back_equal_and_validates_against_the_schema(self, report: AdapterReport) -> None:
        content = report.to_bytes()
        assert AdapterReport.parse(content) == report
        VALIDATOR.validate(json.loads(content))

    def test_it_is_the_documented_form_with_the_go_reporters_members_beside_it(self) -> None:
        assert REPORT.to_json() == {
            "status": "failure",
            "reason": "Waiting",
            "message": "zwölf",
            "conditions": [
                {"type": "Applied", "status": "True", "reason": "Applied", "message": "all there"},
                {
                    "type": "Available",
                    "status": "False",
                    "lastTransitionTime": "2026-01-02T03:04:05Z",
                    "reason": "Waiting",
                    "message": "zwölf",
                },
            ],
            "data": {"endpoint": "https://api.example"},
            "observedGeneration": 4,
            "details": {"attempts": 2},
        }

    @pytest.mark.parametrize(
        ("status", "text"), [(Status.TRUE, "success"), (Status.FALSE, "failure"), (Status.UNKNOWN, "failure")]
    )
    def test_only_true_is_success_to_a_reader_of_the_status_only(self, status: Status, text: str) -> None:
        report = AdapterReport(conditions=(Condition(type="Available", status=status),))
        assert report.to_json()["status"] == text

    def test_without_available_the_first_condition_is_the_headline(self) -> None:
        first = Condition(type="Applied", status=Status.TRUE)
        report = AdapterReport(conditions=(first, Condition(type="Health", status=Status.FALSE)))
        assert report.headline is first

    def test_a_report_without_conditions_cannot_be_written(self) -> None:
        with pytest.raises(InvalidReport, match="at least one condition"):
            AdapterReport(conditions=()).to_bytes()

    @pytest.mark.parametrize(
        "report",
        [
            pytest.param(AdapterReport(conditions=REPORT.conditions * 2), id="a type twice"),
            pytest.param(
                AdapterReport(conditions=(Condition(type="a b", status=Status.TRUE),)), id="a type that is none"
            ),
            pytest.param(
                AdapterReport(conditions=REPORT.conditions, observed_generation=-1), id="a generation below zero"
            ),
            pytest.param(AdapterReport(conditions=REPORT.conditions, data={"at": MOMENT}), id="data that is no JSON"),
            pytest.param(AdapterReport(conditions=REPORT.conditions, data={"x": float("nan")}), id="not a number"),
            pytest.param(AdapterReport(conditions=REPORT.conditions, data={"x": "\ud800"}), id="half a character"),
            pytest.param(AdapterReport(conditions=REPORT.conditions, details={"x": "y" * MAX_BYTES}), id="too large"),
        ],
    )
    def test_what_no_reader_would_take_is_not_written(self, report: AdapterReport, tmp_path: Path) -> None:
        path = tmp_path / "adapter-report.json"
        REPORT.write(path)
        with pytest.raises(InvalidReport):
            report.write(path)
        assert AdapterReport.read(path) == REPORT
        assert list(tmp_path.iterdir()) == [path]


class TestTheDocumentedForm:
    def test_conditions_data_and_generation_are_taken_as_they_are(self) -> None:
        report = parse(
            {
                "conditions": [{"type": "Available", "status": "True", "reason": "R", "message": "m"}],
                "data": {"version": "4.20"},
                "observedGeneration": 3,
            }
        )
        assert report.conditions == (Condition(type="Available", status=Status.TRUE, reason="R", message="m"),)
        assert report.data == {"version": "4.20"}
        assert report.observed_generation == 3

    def test_the_word_beside_conditions_decides_nothing(self) -> None:
        report = parse({"conditions": [{"type": "Available", "status": "True"}], "status": "failure", "reason": "R"})
        assert report.headline.status is Status.TRUE

    def test_members_of_later_versions_are_no_fault(self) -> None:
        document = {"conditions": [{"type": "Available", "status": "True", "severity": "Info"}], "apiVersion": "v2"}
        assert parse(document).headline == Condition(type="Available", status=Status.TRUE)

    def test_a_byte_order_mark_is_no_fault(self) -> None:
        assert AdapterReport.parse(b'\xef\xbb\xbf{"status":"success"}').headline.status is Status.TRUE

    def test_all_that_is_wrong_is_reported_at_once_with_its_place(self) -> None:
        with pytest.raises(InvalidReport) as refusal:
            parse(
                {
                    "conditions": [
                        {"type": "Available", "status": "True"},
                        {"type": "Applied", "status": "yes", "reason": 5},
                        "Health",
                        {"type": "Available", "status": "False"},
                    ],
                    "data": [],
                    "observedGeneration": "4",
                }
            )
        assert [problem.path for problem in refusal.value.problems] == [
            "conditions[1].status",
            "conditions[1].reason",
            "conditions[2]",
            "conditions[3].type",
            "data",
            "observedGeneration",
        ]


class TestTheGoReportersForm:
    @pytest.mark.parametrize(("text", "status"), [("success", Status.TRUE), ("failure", Status.FALSE)])
    def test_it_is_one_condition_of_the_type_asked_for(self, text: str, status: Status) -> None:
        document = {"status": text, "reason": " R ", "message": " m\n", "details": {"x": 1}}
        report = parse(document, condition_type="Validated")
        assert report.conditions == (Condition(type="Validated", status=status, reason="R", message="m"),)
        assert report.details == {"x": 1}

    def test_missing_words_are_replaced_as_the_go_reporter_does(self) -> None:
        headline = parse({"status": "success", "message": 5}).headline
        assert (headline.reason, headline.message) == ("NoReasonProvided", "No message provided")

    def test_details_of_any_kind_are_kept(self) -> None:
        assert parse({"status": "success", "details": ["a"]}).details == {"details": ["a"]}

    def test_empty_conditions_leave_the_status(self) -> None:
        assert parse({"status": "success", "conditions": []}).headline.status is Status.TRUE

    @pytest.mark.parametrize("text", ["Success", "ok", "", None, True, 1, ["success"], {}], ids=repr)
    def test_any_other_status_is_refused(self, text: Any) -> None:
        with pytest.raises(InvalidReport) as refusal:
            parse({"status": text})
        assert [problem.path for problem in refusal.value.problems] == ["status"]


class TestTheMaestroCliForm:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Applied", Condition(type="Applied", status=Status.TRUE, reason="Applied", message="m")),
            ("Failed", Condition(type="Applied", status=Status.FALSE, reason="Failed", message="m")),
            ("Deleted", Condition(type="Finalized", status=Status.TRUE, reason="Deleted", message="m")),
            ("Waiting", Condition(type="Available", status=Status.FALSE, reason="Waiting", message="m")),
            ("Available", Condition(type="Available", status=Status.TRUE, reason="WaitConditionMet", message="m")),
        ],
    )
    def test_its_state_is_a_condition(self, text: str, expected: Condition) -> None:
        document = {"name": "w", "consumer": "mgmt-01", "status": text, "message": "m", "resources": [{"kind": "X"}]}
        report = parse(document)
        assert report.conditions == (expected,)
        assert report.data == {"manifest_work": "w", "management_cluster": "mgmt-01", "resources": [{"kind": "X"}]}

    def test_a_met_expression_without_a_message_names_itself(self) -> None:
        assert parse({"consumer": "c", "status": "Job:Complete"}).headline.message == "Job:Complete is met"

    def test_a_failure_is_reported_beside_the_conditions_of_the_work(self) -> None:
        conditions = [{"type": "Applied", "status": "True"}, {"type": "Available", "status": "True"}]
        report = parse({"consumer": "c", "status": "Failed", "message": "no", "conditions": conditions})
        assert [(each.type, each.status) for each in report.conditions] == [
            ("Applied", Status.FALSE),
            ("Available", Status.TRUE),
        ]

    def test_otherwise_the_conditions_of_the_work_speak(self) -> None:
        conditions = [{"type": "Available", "status": "False"}]
        report = parse({"consumer": "c", "status": "Applied", "conditions": conditions})
        assert [(each.type, each.status) for each in report.conditions] == [("Available", Status.FALSE)]


class TestAnyBytes:
    @PROPERTY
    @given(
        st.binary(max_size=60)
        | st.builds(lambda text: text.encode(), st.text('{}[]",:0123456789.eE-+ntrufalse \\', max_size=40))
    )
    def test_whatever_they_are_they_are_a_report_or_an_invalid_one(self, content: bytes) -> None:
        with contextlib.suppress(InvalidReport):
            AdapterReport.parse(content)

    @PROPERTY
    @given(REPORTS, st.data())
    def test_a_report_cut_anywhere_is_invalid(self, report: AdapterReport, data: st.DataObject) -> None:
        content = report.to_bytes().rstrip()
        cut = content[: data.draw(st.integers(0, len(content) - 1))]
        with pytest.raises(InvalidReport):
            AdapterReport.parse(cut)

    @pytest.mark.parametrize("depth", [30, 100, 990, 5_000, 100_000])
    @pytest.mark.parametrize("member", ["conditions", "data", "status", "observedGeneration", "details"])
    def test_no_depth_of_nesting_breaks_the_reader(self, member: str, depth: int) -> None:
        nested = b"[" * depth + b"]" * depth
        with contextlib.suppress(InvalidReport):
            AdapterReport.parse(b'{"status":"success","%s":%s}' % (member.encode(), nested))

    def test_the_deepest_one_that_is_read_is_far_from_breaking_whoever_writes_it_on(self) -> None:
        def nested(depth: int) -> bytes:
            return b'{"status":"success","details":' + b"[" * depth + b"]" * depth + b"}"

        assert AdapterReport.parse(nested(MAX_DEPTH - 1)).details
        with pytest.raises(InvalidReport, match="nested too deeply"):
            AdapterReport.parse(nested(MAX_DEPTH))

    @pytest.mark.parametrize(
        "content",
        [
            pytest.param(b"", id="empty"),
            pytest.param(b" \n", id="blank"),
            pytest.param(b"\xef\xbb\xbf", id="only a byte order mark"),
            pytest.param(b"null", id="null"),
            pytest.param(b"[]", id="a list"),
            pytest.param(b'"success"', id="a string"),
            pytest.param(b"{}", id="an empty object"),
            pytest.param(b'{"status":"success"} x', id="something behind it"),
            pytest.param(b'{"status":"success"', id="cut"),
            pytest.param(b'{"status":"success","data":{"x":NaN}}', id="not a number"),
            pytest.param(b'{"status":"success","data":{"x":-Infinity}}', id="minus infinity"),
            pytest.param(b'{"status":"success","data":{"x":1e999}}', id="a number beyond all numbers"),
            pytest.param(b'{"status":"success","message":"\\ud800"}', id="half a character"),
            pytest.param(b'{"status":"succ\xff"}', id="no UTF-8"),
            pytest.param(b'{"status":"success","data":{"x":' + b"9" * 5000 + b"}}", id="a number of 5000 digits"),
            pytest.param('{"status":"success"}'.encode("utf-16"), id="UTF-16"),
        ],
    )
    def test_what_cannot_be_understood_is_invalid(self, content: bytes) -> None:
        with pytest.raises(InvalidReport):
            AdapterReport.parse(content)
