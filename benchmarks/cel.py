"""CEL: compiling and evaluating every expression of the authoring guide, and what the rest of the variables cost.

The budget is 25 µs for the median evaluation of each expression. Each is measured with the guide's variables and again
with ten megabytes more beside what it looks at: the ratio of the two must stay at one. Google's cel-expr-python stands
beside it where it is installed; a dash is an expression it cannot take (the framework's own functions).
"""

import importlib
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.languages.cel import CelProgram, compile_cel
from shared.languages.errors import EvaluationError, Rejected

BUDGET_US = 25.0
ROUNDS, PER_ROUND = 21, 100

GUIDE = Path(__file__).parent.parent / "tests" / "conformance" / "golden" / "cel_guide.json"

# What real adapters ask beside the guide: how long ago something changed.
TIME_TO_LIVE = (
    '(timestamp(now()) - timestamp(status.conditions.filter(c, c.type == "Reconciled")[0].last_transition_time))'
    ".getSeconds() > 300"
)


@dataclass(frozen=True, slots=True)
class Row:
    """Median CPU microseconds; `other_*` are cel-expr-python's, None where it cannot take the expression."""

    expression: str
    compiling: float
    evaluating: float
    beside: float
    other_compiling: float | None
    other_evaluating: float | None


def run() -> list[Row]:
    guide = json.loads(GUIDE.read_text())
    variables = guide["vars"]["full"]
    large = variables | {"resources": variables["resources"] | {"payload": _ten_megabytes()}}
    other = _Other.load(variables)
    expressions = [case["expr"] for case in guide["cases"] if case["full"]["outcome"] != "rejected"]
    return [_measured(expression, variables, large, other) for expression in [*expressions, TIME_TO_LIVE]]


def main() -> None:
    print("\nCEL: median CPU microseconds; `beside 10 MB` evaluates where the variables carry 10 MB more\n")
    print(
        f"{'compile':>8} {'evaluate':>9} {'beside 10 MB':>13} {'ratio':>6} {'other compile, evaluate':>25}  expression"
    )
    rows = run()
    for row in rows:
        other = f"{_shown(row.other_compiling)} {_shown(row.other_evaluating)}"
        ratio = row.beside / row.evaluating
        print(
            f"{row.compiling:8.1f} {row.evaluating:9.2f} {row.beside:13.2f} {ratio:6.2f} {other:>25}"
            f"  {' '.join(row.expression.split())[:70]}"
        )
    slowest = max(row.evaluating for row in rows)
    median = statistics.median(row.evaluating for row in rows)
    verdict = "within" if slowest <= BUDGET_US else "OVER"
    print(f"\nslowest {slowest:.1f} µs, median {median:.1f} µs: {verdict} the budget of {BUDGET_US:.0f} µs")


def _measured(expression: str, variables: Any, large: Any, other: "_Other | None") -> Row:
    program = compile_cel(expression)
    compared = other.measured(expression) if other else (None, None)
    return Row(
        expression,
        _microseconds(lambda: compile_cel(expression)),
        _microseconds(lambda: _evaluated(program, variables)),
        _microseconds(lambda: _evaluated(program, large)),
        *compared,
    )


def _evaluated(program: CelProgram, variables: Any) -> Any:
    try:
        return program.evaluate(variables)
    except (EvaluationError, Rejected) as error:
        return error


def _ten_megabytes() -> list[dict[str, str]]:
    return [{"key": f"k{i}", "text": "x" * 80} for i in range(100_000)]


def _microseconds(work: Callable[[], object]) -> float:
    rounds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for _ in range(PER_ROUND):
            work()
        rounds.append((time.process_time() - started) / PER_ROUND * 1e6)
    return statistics.median(rounds)


def _shown(microseconds: float | None) -> str:
    return f"{'-':>12}" if microseconds is None else f"{microseconds:12.1f}"


class _Other:
    """cel-expr-python with the same variables, all of them of kind dyn, and its activation kept between evaluations."""

    def __init__(self, cel: Any, extensions: list[Any], variables: dict[str, Any]) -> None:
        self._environment = cel.NewEnv(variables=dict.fromkeys(variables, cel.Type.DYN), extensions=extensions)
        self._activation = self._environment.Activation(variables)

    @classmethod
    def load(cls, variables: dict[str, Any]) -> "_Other | None":
        try:
            cel = importlib.import_module("cel_expr_python.cel")
            optional = importlib.import_module("cel_expr_python.ext.ext_optional")
            strings = importlib.import_module("cel_expr_python.ext.ext_strings")
        except ImportError:
            return None
        return cls(cel, [optional.ExtOptional(), strings.ExtStrings()], variables)

    def measured(self, expression: str) -> tuple[float | None, float | None]:
        try:
            compiled = self._environment.compile(expression)
        except Exception:  # noqa: BLE001 - it raises its own, undocumented kinds
            return None, None
        return (
            _microseconds(lambda: self._environment.compile(expression)),
            _microseconds(lambda: compiled.eval(self._activation).plain_value()),
        )


if __name__ == "__main__":
    main()
