"""A whole task config, phase by phase: each one's names are known to those that follow."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dispatcher.config.compiled import Param, Payload, PostAction, Precondition, Resource
from dispatcher.config.compiling.context import Context, Phase
from dispatcher.config.compiling.params import params
from dispatcher.config.compiling.post import payloads, post_actions
from dispatcher.config.compiling.preconditions import preconditions
from dispatcher.config.compiling.resources import resources
from dispatcher.config.compiling.scopes import Scope
from dispatcher.config.findings import Severity
from dispatcher.config.models.task import TaskConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledTask:
    """`structures` are the manifests of the resources, as far as they are known before they are rendered."""

    params: tuple[Param, ...]
    preconditions: tuple[Precondition, ...]
    resources: tuple[Resource, ...]
    structures: tuple[Any, ...]
    payloads: tuple[Payload, ...]
    post_actions: tuple[PostAction, ...]


def compile_task(
    context: Context, task: TaskConfig, environment: Mapping[str, str], *, unset_variable: Severity
) -> CompiledTask:
    """`unset_variable` is how bad it is when the environment lacks a variable that a param requires."""
    scope = Scope(variables=context.assumed)
    all_params, scope = params(context, task.params, scope, environment, unset_variable=unset_variable)
    context.phase = Phase.PRECONDITIONS
    all_preconditions, scope = preconditions(context, task.preconditions, scope)
    context.phase = Phase.RESOURCES
    all_resources, structures = resources(context, task.resources, scope)
    context.phase = Phase.POST
    all_payloads, scope = payloads(context, task.post.payloads, scope)
    return CompiledTask(
        params=all_params,
        preconditions=all_preconditions,
        resources=all_resources,
        structures=structures,
        payloads=all_payloads,
        post_actions=post_actions(context, task.post.post_actions, scope),
    )
