"""All languages have one shape: whoever knows one of them can use the others."""

from datetime import UTC, datetime
from typing import Any

import pytest

from shared.languages.errors import EvaluationError, Rejected
from shared.languages.registry import LANGUAGES

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
GIVEN = {"cluster": {"name": "c1"}}


@pytest.mark.parametrize(
    ("language", "source", "value"),
    [
        ("cel", "cluster.name", "c1"),
        ("template", "{{ .cluster.name }}", "c1"),
        ("jsonpath", "cluster.name", "c1"),
    ],
)
def test_a_source_is_compiled_once_and_knows_what_it_reads(language: str, source: str, value: Any) -> None:
    program = LANGUAGES[language].compile(source, GIVEN)
    assert program.source == source
    assert program.free_variables == {"cluster"}
    assert program.functions == frozenset()
    assert [program.evaluate(GIVEN, clock=lambda: NOW) for _ in range(2)] == [value, value]


@pytest.mark.parametrize(("language", "source"), [("cel", "a +"), ("template", "{{ .a"), ("jsonpath", "{.a")])
def test_a_source_that_cannot_be_read_is_rejected(language: str, source: str) -> None:
    with pytest.raises(Rejected):
        LANGUAGES[language].compile(source, GIVEN)


@pytest.mark.parametrize(
    ("language", "source"), [("cel", "cluster.id"), ("template", "{{ .cluster.id }}"), ("jsonpath", "cluster.id")]
)
def test_a_value_that_is_missing_is_an_evaluation_error(language: str, source: str) -> None:
    program = LANGUAGES[language].compile(source, GIVEN)
    with pytest.raises(EvaluationError):
        program.evaluate(GIVEN)
