"""The examples in docs/languages.md are true: every line with an arrow is evaluated."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dispatcher.languages.cel import compile_cel
from dispatcher.languages.cel.limits import Limits
from dispatcher.languages.gotemplate import compile_template, limits
from dispatcher.languages.jsonpath import compile_jsonpath, parsing, program

TEXT = (Path(__file__).parents[2] / "docs" / "languages.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)

LANGUAGES: dict[str, Callable[[str, dict[str, Any]], Any]] = {
    "cel": lambda source, given: compile_cel(source, variables=given.keys()).evaluate(given, clock=lambda: NOW),
    "template": lambda source, given: compile_template(source, variables=given.keys()).evaluate(
        given, clock=lambda: NOW
    ),
    "jsonpath": lambda source, given: compile_jsonpath(source).evaluate(given),
}


def examples() -> Iterator[Any]:
    for language, block in BLOCKS:
        if language in LANGUAGES:
            for line in block.splitlines():
                source, _, result = line.partition("→")
                yield pytest.param(language, source.rstrip(), json.loads(result), id=source.rstrip())


@pytest.mark.parametrize(("language", "source", "result"), list(examples()))
def test_an_example_gives_what_the_guide_says(language: str, source: str, result: Any) -> None:
    (variables,) = (json.loads(block) for kind, block in BLOCKS if kind == "json")
    assert LANGUAGES[language](source, variables) == result


def test_the_limits_are_those_of_the_guide() -> None:
    cel = Limits()
    for number in (
        cel.source,
        cel.depth,
        cel.steps,
        cel.iterations,
        limits.MAX_SOURCE,
        limits.MAX_TOKENS,
        limits.MAX_NESTING,
        limits.MAX_DEPTH,
        limits.MAX_STEPS,
        parsing.LONGEST_SOURCE,
        parsing.DEEPEST_LOOP,
        program.BUDGET,
    ):
        assert re.search(rf"\b{number:,}\b", TEXT), number
    assert f"{cel.growth // 2**20} Mi characters of new data" in TEXT
    assert f"{limits.MAX_TEXT // 2**20} Mi characters of text" in TEXT
