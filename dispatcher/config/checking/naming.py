"""Names that an expression cannot use, or that something else hides."""

from collections.abc import Iterator
from typing import Final

from dispatcher.config.compiled import Place
from dispatcher.config.compiling.context import Context
from dispatcher.config.compiling.scopes import CEL_BUILTINS
from dispatcher.config.compiling.task import CompiledTask
from dispatcher.config.findings import Severity
from shared.languages.cel import compile_cel
from shared.languages.errors import Rejected

_LONGEST: Final = 200


def check_naming(context: Context, compiled: CompiledTask) -> None:
    for what, name, place in _named(compiled):
        if name in CEL_BUILTINS:
            message = f"the {what} {name!r} is hidden by the variable {name} that every expression has"
            context.report(Severity.MISTAKE, "hidden-name", message, place, "call it something else")
        elif not name.isidentifier():
            message = f"the {what} {name!r} cannot be used in expressions and templates: it is no name"
            context.report(Severity.MISTAKE, "name-breaks-cel", message, place, "use letters, digits and _ only")
        elif not _is_variable(name):
            message = f"the {what} {name!r} can be used in templates, but not in CEL, where {name} is reserved"
            context.report(Severity.ADVICE, "name-breaks-cel", message, place, "call it something else")
    _check_nested(context, compiled)


def _named(compiled: CompiledTask) -> Iterator[tuple[str, str, Place]]:
    for param in compiled.params:
        yield "param", param.name, param.place
    for precondition in compiled.preconditions:
        for capture in precondition.captures:
            yield "capture", capture.name, capture.place
    for payload in compiled.payloads:
        yield "payload", payload.name, payload.place


def _is_variable(name: str) -> bool:
    if len(name) > _LONGEST:
        return False
    try:
        return compile_cel(name, variables={name}).free_variables == {name}
    except Rejected:
        return False


def _check_nested(context: Context, compiled: CompiledTask) -> None:
    """A nested discovery is shown beside the resources, so it must not have the name of one."""
    taken = {resource.name for resource in compiled.resources}
    for resource in compiled.resources:
        for nested in resource.nested:
            if nested.name in taken:
                message = f"there is another resources.{nested.name}"
                context.report(Severity.MISTAKE, "duplicate-name", message, nested.place, "call it something else")
            taken.add(nested.name)
