"""The checks of a task config, one after the other."""

from dispatcher.config.checking.clear_text import check_clear_text
from dispatcher.config.checking.manifests import check_manifests
from dispatcher.config.checking.names import Definitions, check_names
from dispatcher.config.checking.naming import check_naming
from dispatcher.config.checking.unused import check_unused
from dispatcher.config.compiled import Place
from dispatcher.config.compiling.context import Context
from dispatcher.config.compiling.task import CompiledTask
from dispatcher.config.models.task import TaskConfig


def check_task(context: Context, task: TaskConfig, compiled: CompiledTask) -> None:
    """Adds what is found to the context."""
    definitions = _definitions(context, compiled)
    check_names(context, definitions)
    check_naming(context, compiled)
    check_unused(context, compiled)
    check_manifests(context, compiled)
    check_clear_text(context, task)


def _definitions(context: Context, compiled: CompiledTask) -> Definitions:
    places: dict[str, Place] = {}
    for param in compiled.params:
        places.setdefault(param.name, param.place)
    for precondition in compiled.preconditions:
        if precondition.api_call is not None:
            places.setdefault(precondition.name, precondition.place)
        for capture in precondition.captures:
            places.setdefault(capture.name, capture.place)
    for payload in compiled.payloads:
        places.setdefault(payload.name, payload.place)
    names = {resource.name for resource in compiled.resources}
    nested = {each.name for resource in compiled.resources for each in resource.nested}
    return Definitions(
        places, frozenset(payload.name for payload in compiled.payloads), frozenset(names | nested | context.assumed)
    )
