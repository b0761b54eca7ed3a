"""CEL against what cel-go 0.31 answered: probes of the language, random expressions, and the authoring guide's.

A recorded outcome is a value with its kind, an evaluation error, or a refusal before evaluation. Where we differ on
purpose the difference is listed here with its reason; everything else must be the same.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from shared.languages.cel import compile_cel
from shared.languages.errors import EvaluationError, Rejected

_GOLDEN = Path(__file__).parent / "golden"

# The Go framework writes null as the number of a protobuf enum; here null is null.
_WANTED_DIFFERENCES = {
    "toJson(null)": "null",
    "toJson([1,2.5,null])": "[1,2.5,null]",
}


def _read(name: str) -> Any:
    return json.loads((_GOLDEN / name).read_text())


PROBES = _read("cel.json")
MORE_PROBES = _read("cel_more.json")
GUIDE = _read("cel_guide.json")


def _outcome(expression: str, variables: dict[str, Any]) -> tuple[str, Any]:
    try:
        program = compile_cel(expression)
    except Rejected:
        return "rejected", None
    try:
        return "value", _strict(program.evaluate(variables))
    except EvaluationError:
        return "error", None


def _strict(value: Any) -> Any:
    """Told apart as JSON does: for Python, true is 1. A double without a fraction is recorded without one."""
    match value:
        case bool():
            return f"<{value}>"
        case list():
            return [_strict(item) for item in value]
        case dict():
            return {key: _strict(item) for key, item in value.items()}
    return value


def _expected(case: dict[str, Any]) -> tuple[str, Any]:
    if case["expr"] in _WANTED_DIFFERENCES:
        return "value", _WANTED_DIFFERENCES[case["expr"]]
    value = case.get("value")
    if case.get("type") in {"int", "uint"} and isinstance(value, str):
        value = int(value)  # recorded as text because Go's JSON numbers are doubles; ours stay integers
    return case["outcome"], _strict(value)


def _named(cases: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(case, id=case["expr"].encode("unicode_escape").decode()) for case in cases]


ALL_PROBES = _named(PROBES["cases"] + MORE_PROBES["cases"])


@pytest.mark.parametrize("case", ALL_PROBES)
def test_a_probe_has_the_outcome_cel_go_recorded(case: dict[str, Any]) -> None:
    assert _outcome(case["expr"], PROBES["vars"]) == _expected(case)


@pytest.mark.parametrize("case", [probe for probe in ALL_PROBES if probe.values[0]["outcome"] == "value"])
def test_the_value_of_a_probe_has_the_kind_cel_go_recorded(case: dict[str, Any]) -> None:
    assert _outcome(f"type({case['expr']}\n)", PROBES["vars"]) == ("value", case["type"])


@pytest.mark.parametrize("context", ["full", "empty"])
@pytest.mark.parametrize("case", _named(GUIDE["cases"]))
def test_an_expression_of_the_guide_has_the_outcome_cel_go_recorded(case: dict[str, Any], context: str) -> None:
    recorded = case[context]
    assert _outcome(case["expr"], GUIDE["vars"][context]) == (recorded["outcome"], _strict(recorded.get("value")))


def test_the_files_hold_what_this_suite_is_about() -> None:
    assert len(PROBES["cases"]) == 214
    assert len(GUIDE["cases"]) == 46
    assert {case["expr"] for case in PROBES["cases"]} >= _WANTED_DIFFERENCES.keys()
