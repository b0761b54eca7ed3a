"""Captures and payloads that nothing reads."""

from typing import Final

from dispatcher.config.compiled import PathSource
from dispatcher.config.compiling.context import Context
from dispatcher.config.compiling.task import CompiledTask
from dispatcher.config.findings import Severity

_UNCOMPILED: Final = frozenset({"cel", "template", "jsonpath"})


def check_unused(context: Context, compiled: CompiledTask) -> None:
    """Nothing is said where a source could not be compiled: what it reads is not known."""
    if context.assumed or any(finding.rule in _UNCOMPILED for finding in context.findings):
        return
    read = frozenset[str]().union(*(use.program.free_variables for use in context.uses if use.names is not None))
    read |= {param.source.path[0] for param in compiled.params if isinstance(param.source, PathSource)}
    for precondition in compiled.preconditions:
        for capture in precondition.captures:
            if capture.name not in read:
                message = f"the capture {capture.name!r} is never used"
                context.report(Severity.ADVICE, "unused", message, capture.place, "remove it")
    for payload in compiled.payloads:
        if payload.name not in read:
            message = f"the payload {payload.name!r} is never used"
            hint = f'send it in a post action: body: "{{{{ .{payload.name} }}}}"'
            context.report(Severity.ADVICE, "unused", message, payload.place, hint)
