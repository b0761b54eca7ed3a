"""`matches`: Google's RE2, which takes time linear in the text whatever the pattern.

Python's `re` backtracks, so one line of a configuration could hang the process with it.
"""

from collections.abc import Callable
from typing import Any, Final

import re2  # type: ignore[import-untyped]  # google-re2 ships no types

from dispatcher.languages.cel.conversions import utf8
from dispatcher.languages.cel.failure import Failure
from dispatcher.languages.cel.limits import Evaluation
from dispatcher.languages.cel.overloads import Function, Overload
from dispatcher.languages.cel.values import Kind

# Compiling a pattern costs about this much, and about this much for each of its characters.
_COMPILING, _COMPILING_CHARACTER = 100, 8
# The slowest of RE2's engines advances all instructions of a pattern together: this many of them are one step.
_INSTRUCTIONS_PER_STEP = 256

Matcher = Callable[[Evaluation, str], bool]


def matcher(pattern: str) -> Matcher:
    """A pattern, compiled once."""
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    try:
        compiled = re2.compile(utf8(pattern), options)
    except re2.error as problem:
        raise Failure("this is not an RE2 pattern: " + _reason(problem), met=pattern) from None
    size: int = compiled.programsize

    def matches(evaluation: Evaluation, text: str) -> bool:
        evaluation.spend(len(text) * size // _INSTRUCTIONS_PER_STEP)
        return compiled.search(utf8(text)) is not None

    return matches


def _reason(problem: Any) -> str:
    reason = problem.args[0] if problem.args else ""
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)


def _matches(evaluation: Evaluation, text: str, pattern: str) -> bool:
    evaluation.spend(_COMPILING + len(pattern) * _COMPILING_CHARACTER)
    return matcher(pattern)(evaluation, text)


FUNCTIONS: Final = (Function("matches", (Overload((Kind.STRING, Kind.STRING), _matches),)),)
