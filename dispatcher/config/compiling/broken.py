"""Programs that fail when they are run, for sources that the Go framework accepts and fails on only then.

An adapter with such a source runs, as long as nothing reaches it; `validate` refuses it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from shared.languages.cel import CelProgram, Limits
from shared.languages.cel.runtime.failure import Failure
from shared.languages.clock import Clock, system_clock
from shared.languages.errors import EvaluationError, Rejected
from shared.languages.gotemplate import Template
from shared.languages.gotemplate.runtime.evaluation import Evaluation
from shared.languages.jsonpath import Program


def broken_cel(refusal: Rejected) -> CelProgram:
    def fail(_: object) -> NoReturn:
        raise Failure(refusal.problem, hint=refusal.hint)

    return CelProgram(refusal.source, frozenset(), frozenset(), fail, 0, Limits())


@dataclass(frozen=True, slots=True, eq=False)
class BrokenTemplate(Template):
    refusal: Rejected

    def run(self, run: Evaluation, variables: Mapping[str, Any]) -> str:  # noqa: ARG002 - fails anyway
        raise _failure(self.refusal)


def broken_template(refusal: Rejected) -> BrokenTemplate:
    return BrokenTemplate(refusal.source, frozenset(), (), None, refusal)


@dataclass(frozen=True, slots=True)
class BrokenPath(Program):
    refusal: Rejected | None = None

    def evaluate(self, document: Any, *, clock: Clock = system_clock) -> Any:  # noqa: ARG002 - fails anyway
        assert self.refusal is not None
        raise _failure(self.refusal)


def broken_path(refusal: Rejected) -> BrokenPath:
    return BrokenPath(refusal.source, frozenset(), (), refusal=refusal)


def _failure(refusal: Rejected) -> EvaluationError:
    return EvaluationError(refusal.problem, source=refusal.source, offset=refusal.offset, hint=refusal.hint)
