"""Whatever is written, it is refused or evaluated within the limits; nothing else happens.

`make soak` asks for many more than a normal run.
"""

import json
import math
import os
import resource
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.languages.cel import compile_cel
from shared.languages.errors import EvaluationError, Rejected

EXAMPLES = 100_000 if os.environ.get("SOAK") else 3_000
SECONDS, MEGABYTES = 1.0, 200
TRIES = 3

GOLDEN = Path(__file__).parents[2] / "conformance" / "golden"
PROBES = json.loads((GOLDEN / "cel.json").read_text())
GUIDE = json.loads((GOLDEN / "cel_guide.json").read_text())
MORE = json.loads((GOLDEN / "cel_more.json").read_text())
SEEDS = [case["expr"] for recorded in (PROBES, GUIDE, MORE) for case in recorded["cases"]]
VARIABLES: dict[str, Any] = GUIDE["vars"]["full"] | PROBES["vars"]
# What JSON can hold, and what a careless caller may pass.
VARIABLES |= {"huge": "ab" * 500_000, "many": [0] * 100_000, "half": "\ud800", "tiny": 5e-324, "giant": 10**5000}
VARIABLES |= {"nan": math.nan, "infinite": -math.inf, "odd": {1: 2, None: 3, "x": object()}, "pair": (1, ["x"])}

# Separated by white space, which no fragment contains; the few that are white space or foreign stand apart.
FRAGMENTS = [
    *Path(__file__).with_name("cel_fragments.txt").read_text().split(),
    *[" ", "\n", "\t", "\0", "é", "\ud800", "\U0001f600", "'%s %d %.3f'"],
]


@st.composite
def mutants(draw: st.DrawFn) -> str:
    """A recorded expression with some of its text repeated, removed or replaced."""
    source: str = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        start, end = sorted(draw(st.tuples(st.integers(0, len(source)), st.integers(0, len(source)))))
        end = min(end, start + 12)
        inserted = draw(st.sampled_from(["", source[start:end], *FRAGMENTS]))
        keeps = draw(st.booleans())
        source = source[:start] + inserted + source[start if keeps else end :]
    return source


SOURCES = st.one_of(
    mutants(),
    st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join),
    st.lists(st.sampled_from(FRAGMENTS), max_size=15).map(" ".join),
    st.text(max_size=60),
)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(source=SOURCES, declared=st.booleans())
def test_any_source_is_refused_or_evaluated_within_the_limits(source: str, *, declared: bool) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Python's own housekeeping may fall into one try of a long run, but not into all of them.
    assert any(_seconds_for(source, declared=declared) < SECONDS for _ in range(TRIES))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEGABYTES * 1024


def _seconds_for(source: str, *, declared: bool) -> float:
    started = time.process_time()
    try:
        value = compile_cel(source, variables=VARIABLES if declared else None).evaluate(VARIABLES)
    except (Rejected, EvaluationError) as problem:
        problem.explain()
    else:
        assert _is_plain(value)
    return time.process_time() - started


def _is_plain(value: Any) -> bool:
    """JSON's types, or what came in with the variables."""
    if isinstance(value, list):
        return all(map(_is_plain, value)) or any(value is known for known in VARIABLES.values())
    return type(value) in {type(None), bool, int, float, str, dict}


@pytest.mark.parametrize("source", SEEDS[:: max(1, len(SEEDS) // 40)], ids=str)
def test_every_beginning_of_an_expression_is_refused_or_evaluated(source: str) -> None:
    for end in range(len(source)):
        try:
            compile_cel(source[:end]).evaluate(VARIABLES)
        except (Rejected, EvaluationError) as problem:
            problem.explain()
