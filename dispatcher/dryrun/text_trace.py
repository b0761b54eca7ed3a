"""The trace as text, in the Go framework's layout: four phases, each step on a line, its calls below it."""

from collections.abc import Iterable, Iterator

from dispatcher.dryrun.rehearsing import Rehearsal
from dispatcher.dryrun.showing import Shown
from dispatcher.engine.running import NOT_FOUND
from dispatcher.engine.runs import (
    CallRecord,
    Delivery,
    Done,
    Operation,
    Phase,
    PostActionRecord,
    ResourceRecord,
    Status,
    Verdict,
)

_VERDICTS = {
    Verdict.MET: "PASS",
    Verdict.NOT_MET: "NOT MET",
    Verdict.FAILED: "FAIL",
    Verdict.NOT_FOUND: "NOT FOUND",
}
_EXPLAINED = frozenset({Operation.SKIP, Operation.WAIT, Operation.REFUSE})
_NOT_FOUND = " (RESOURCE NOT FOUND)"


def text_trace(rehearsals: Iterable[Rehearsal], *, verbose: bool) -> str:
    return "\n".join("\n".join(_Text(each, verbose=verbose).lines()) + "\n" for each in rehearsals)


class _Text:
    def __init__(self, rehearsal: Rehearsal, *, verbose: bool) -> None:
        self._event = rehearsal.event
        self._result = rehearsal.result
        self._unmatched = rehearsal.unmatched
        self._verbose = verbose
        self._shown = Shown(rehearsal.result.secrets)

    def lines(self) -> Iterator[str]:
        yield "Dry-Run Execution Trace"
        yield "========================"
        yield f"Event: id={self._event.id} type={self._event.type}"
        yield ""
        yield from self._params()
        yield ""
        yield from self._preconditions()
        yield ""
        yield from self._resources()
        yield ""
        yield from self._post_actions()
        yield ""
        yield from (f"Warning: {self._shown.text(each)}" for each in self._result.warnings)
        yield from (f"Warning: no mock answers {self._shown.text(each)}" for each in self._unmatched)
        yield f"Result: {'SUCCESS' if self._result.status is Status.SUCCESS else 'FAILED'}"

    def _params(self) -> Iterator[str]:
        yield f"Phase 1: Parameter Extraction .............. {self._outcome(Phase.PARAMS)}"
        for param in self._result.params:
            if param.resolved:
                yield f"  {param.name:<16} = {self._shown.inline(param.value, key=param.name)}"
        for param in self._result.params:
            for call in param.calls:
                yield from self._call(call, "  ")
        if Phase.PARAMS in self._result.errors:
            yield f"  Error: {self._shown.text(self._result.errors[Phase.PARAMS])}"

    def _preconditions(self) -> Iterator[str]:
        steps = self._result.preconditions
        yield f"Phase 2: Preconditions ..................... {self._preconditions_outcome()}"
        for number, step in enumerate(steps, 1):
            yield f"  [{number}/{len(steps)}] {step.name:<30} {_VERDICTS[step.verdict]}"
            for call in step.calls:
                yield from self._call(call)
            for name, value in step.captured.items():
                yield f"    Captured: {name} = {self._shown.inline(value, key=name)}"
            if step.error:
                yield f"    Error: {self._shown.text(step.error)}"

    def _preconditions_outcome(self) -> str:
        verdicts = [step.verdict for step in self._result.preconditions]
        if not verdicts:
            if Phase.PARAMS in self._result.errors:
                return "SKIPPED"
            return f"SKIPPED{_NOT_FOUND}" if self._result.skip_reason == NOT_FOUND else "SUCCESS"
        last = verdicts[-1]
        detail = {Verdict.MET: " (MET)", Verdict.NOT_MET: " (NOT MET)", Verdict.NOT_FOUND: _NOT_FOUND}
        return "FAILED" if last is Verdict.FAILED else f"SUCCESS{detail[last]}"

    def _resources(self) -> Iterator[str]:
        result, steps = self._result, self._result.resources
        skipped = result.skipped and not steps
        outcome = "SKIPPED" if skipped else self._outcome(Phase.RESOURCES)
        yield f"Phase 3: Resources ........................ {outcome}"
        if skipped:
            yield f"  Reason: {self._shown.text(result.skip_reason)}"
        for number, step in enumerate(steps, 1):
            yield f"  [{number}/{len(steps)}] {step.name:<30} {_operation(step)}"
            yield from self._resource(step)
        if result.discovered:
            yield ""
            yield "Phase 3.5: Discovery Results ................. (available as resources.* in payload)"
            for name, found in result.discovered.items():
                yield f"  {name}:"
                yield f"    {self._shown.block(found, '    ')}"

    def _resource(self, step: ResourceRecord) -> Iterator[str]:
        yield f"    Kind: {step.kind:<12} Namespace: {step.namespace:<12} Name: {step.object_name}"
        if step.operation in _EXPLAINED:
            yield f"    Reason: {self._shown.text(step.reason)}"
        if self._verbose and step.manifest is not None:
            yield "    [verbose] Rendered manifest:"
            yield f"      {self._shown.block(step.manifest, '      ')}"
        if step.deleted is not None:
            yield "    Pre-delete state:"
            yield f"      {self._shown.block(step.deleted, '      ')}"
        if step.error:
            yield f"    Error: {self._shown.text(step.error)}"

    def _post_actions(self) -> Iterator[str]:
        steps = self._result.post_actions
        found = "" if all(step.reason != NOT_FOUND for step in steps) else _NOT_FOUND
        yield f"Phase 4: Post Actions ..................... {self._outcome(Phase.POST_ACTIONS)}{found}"
        if not steps and Phase.POST_ACTIONS in self._result.errors:
            yield f"  Error: {self._shown.text(self._result.errors[Phase.POST_ACTIONS])}"
        for number, step in enumerate(steps, 1):
            yield f"  [{number}/{len(steps)}] {step.name:<30} {step.done.value.upper()}"
            yield from self._post_action(step)

    def _post_action(self, step: PostActionRecord) -> Iterator[str]:
        if step.done is Done.SKIPPED:
            yield f"    Reason: {self._shown.text(step.reason)}"
        for call in step.calls:
            yield from self._call(call)
        if step.report is not None and step.report.delivery is Delivery.DISCARDED:
            yield f"    Discarded: {self._shown.text(step.report.reason)}"
        if step.error:
            yield f"    Error: {self._shown.text(step.error)}"

    def _call(self, call: CallRecord, indent: str = "    ") -> Iterator[str]:
        yield f"{indent}API Call: {call.method} {self._shown.text(call.url)} -> {call.status or 'no answer'}"
        if self._verbose and call.request_body:
            yield f"{indent}[verbose] Request body:"
            yield f"{indent}  {self._shown.block(self._shown.body(call.request_body), f'{indent}  ')}"
        if self._verbose and call.response_body:
            yield f"{indent}[verbose] Response body:"
            yield f"{indent}  {self._shown.block(self._shown.body(call.response_body), f'{indent}  ')}"

    def _outcome(self, phase: Phase) -> str:
        return "FAILED" if phase in self._result.errors else "SUCCESS"


def _operation(step: ResourceRecord) -> str:
    if step.error:
        return "FAILED"
    return "UNKNOWN" if step.operation is None else step.operation.value.upper()
