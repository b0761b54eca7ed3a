"""The examples in docs/languages.md are true: every line with an arrow is evaluated."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shared.languages.cel import compile_cel
from shared.languages.cel.limits import Limits
from shared.languages.errors import MissingKey
from shared.languages.gotemplate import compile_template, limits
from shared.languages.jsonpath import compile_jsonpath
from shared.languages.jsonpath import limits as jsonpath

TEXT = (Path(__file__).parents[2] / "docs" / "languages.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
NONE = "\u2013"

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


def test_an_error_is_explained_as_the_guide_shows() -> None:
    (variables,) = (json.loads(block) for kind, block in BLOCKS if kind == "json")
    (shown,) = (block for kind, block in BLOCKS if kind == "text")
    with pytest.raises(MissingKey) as error:
        compile_jsonpath(shown.splitlines()[1].strip()).evaluate(variables)
    assert f"error: {error.value.explain()}\n" == shown


def test_the_limits_are_those_of_the_guide() -> None:
    cel = Limits()
    table = TEXT.partition("## Limits")[2].partition("Nesting is")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:3] != "|--"]

    assert [row for row in rows if len(row) > 1][1:] == [
        [
            "source",
            f"{cel.source:,} characters",
            f"{limits.MAX_SOURCE:,} characters, {limits.MAX_TOKENS:,} tokens",
            f"{jsonpath.MAX_SOURCE:,} characters",
        ],
        [
            "nesting",
            f"{cel.depth} levels",
            f"{limits.MAX_NESTING} levels, {limits.MAX_DEPTH} through templates that call templates",
            f"{jsonpath.MAX_NESTING} ranges",
        ],
        ["variables", NONE, f"{limits.MAX_VARIABLES} at one place", NONE],
        [
            "work",
            f"{cel.steps:,} steps, {cel.iterations:,} rounds of loops",
            f"{limits.MAX_STEPS:,} steps",
            f"{jsonpath.MAX_STEPS:,} steps",
        ],
        ["growth", f"{cel.growth:,} characters of new data", f"{limits.MAX_TEXT:,} characters of text", NONE],
        [
            "result as JSON",
            f"{cel.growth:,} characters of what the expression made",
            NONE,
            f"{jsonpath.MAX_RESULT:,} characters, where a value is selected again",
        ],
    ]
