"""`matches`: Google's RE2, which takes time linear in the text whatever the pattern.

Python's `re` backtracks, so one line of a configuration could hang the process with it. RE2's own cache of patterns is
emptied each time: it would keep what any author once wrote. A constant pattern is kept by its program, a computed one
by its evaluation.
"""

import re
from typing import Any, Final

import re2  # type: ignore[import-untyped]  # google-re2 ships no types

from shared.languages.cel.functions.overloads import Function, Overload
from shared.languages.cel.runtime.evaluation import Evaluation
from shared.languages.cel.runtime.failure import Failure
from shared.languages.cel.runtime.values import Kind, utf8

# Enough for some forty thousand instructions; what does not fit is refused after a few milliseconds.
_MEMORY: Final = 1024 * 1024

# Measured: steps to compile a pattern, by its characters and its instructions, and for one that is refused.
_COMPILING: Final = 300
_PER_CHARACTER: Final = 150
_PER_INSTRUCTION: Final = 4
_REFUSED: Final = 70_000

# The slowest of RE2's engines carries all instructions over every character; this many of them are a step.
_INSTRUCTIONS_PER_STEP: Final = 32

# What a backslash begins; in Google's RE2, unlike Go's, `\C` takes a character apart.
_ESCAPES: Final = re.compile(r"\\Q.*?(?:\\E|$)|\\.", re.DOTALL)


class Pattern:
    """A compiled pattern; `size` is its number of instructions."""

    __slots__ = ("_search", "size")

    def __init__(self, pattern: str) -> None:
        if any(escape == r"\C" for escape in _ESCAPES.findall(pattern)):
            raise Failure(r"this is not an RE2 pattern: \C, a single byte, does not exist here", met=pattern)
        options = re2.Options()
        options.log_errors = False
        options.never_capture = True
        options.max_mem = _MEMORY
        try:
            compiled = re2.compile(utf8(pattern), options)
        except re2.error as problem:
            raise Failure(f"this is not an RE2 pattern: {_reason(problem)}", met=pattern) from None
        finally:
            re2.purge()
        self._search = compiled.search
        self.size: int = compiled.programsize

    def matches(self, evaluation: Evaluation, text: str) -> bool:
        evaluation.spend(len(text) * self.size // _INSTRUCTIONS_PER_STEP)
        return self._search(utf8(text)) is not None


def _reason(problem: Any) -> str:
    reason = problem.args[0] if problem.args else ""
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)


def _matches(evaluation: Evaluation, text: str, pattern: str) -> bool:
    known = evaluation.patterns.get(pattern)
    if known is None:
        known = evaluation.patterns[pattern] = _compiled(evaluation, pattern)
    matched: bool = known.matches(evaluation, text)
    return matched


def _compiled(evaluation: Evaluation, pattern: str) -> Pattern:
    evaluation.spend(_COMPILING + len(pattern) * _PER_CHARACTER)
    try:
        compiled = Pattern(pattern)
    except Failure:
        evaluation.spend(_REFUSED)
        raise
    evaluation.spend(compiled.size * _PER_INSTRUCTION)
    return compiled


FUNCTIONS: Final = (Function("matches", (Overload((Kind.STRING, Kind.STRING), _matches),), weight=30),)
