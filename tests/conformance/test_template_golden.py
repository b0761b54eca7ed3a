"""Go's own answers: `template.json` was recorded for the port, `template_more.json` by us while comparing at random."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shared.languages.errors import EvaluationError, Rejected
from shared.languages.gotemplate import compile_template

GOLDEN = Path(__file__).parent / "golden"
NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def recorded(name: str) -> list[Any]:
    golden = json.loads((GOLDEN / name).read_text(encoding="utf-8"))
    return [pytest.param(case, golden["vars"], id=f"{name}: {case['template']}") for case in golden["cases"]]


def answer(source: str, variables: dict[str, Any]) -> dict[str, str]:
    try:
        program = compile_template(source)
    except Rejected:
        return {"outcome": "rejected"}
    try:
        return {"outcome": "value", "value": program.evaluate(variables, clock=lambda: NOW)}
    except EvaluationError:
        return {"outcome": "error"}


@pytest.mark.parametrize(("case", "variables"), [*recorded("template.json"), *recorded("template_more.json")])
def test_a_template_gives_what_go_gives(case: dict[str, str], variables: dict[str, Any]) -> None:
    source = case["template"]
    assert {"template": source, **answer(source, variables)} == case
