"""Params: where each one's value comes from."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from dispatcher.config.compiled import (
    ABSENT,
    ApiCallSource,
    ConfigSource,
    EnvSource,
    EventSource,
    ExpressionSource,
    FileSource,
    ObjectKeySource,
    Param,
    ParamSource,
    PathSource,
)
from dispatcher.config.compiling.calls import api_call
from dispatcher.config.compiling.context import Context
from dispatcher.config.compiling.scopes import Scope
from dispatcher.config.findings import Severity
from dispatcher.config.models.task import ObjectKeyBlock, ParamBlock, SourceBlock
from dispatcher.config.reading import paths

TYPES: Final = ("string", "int", "int64", "float", "float64", "bool")
OBJECT_KINDS: Final[Mapping[str, Literal["Secret", "ConfigMap"]]] = {"secret": "Secret", "configmap": "ConfigMap"}


def params(
    context: Context,
    blocks: Sequence[ParamBlock],
    scope: Scope,
    environment: Mapping[str, str],
    *,
    unset_variable: Severity,
) -> tuple[tuple[Param, ...], Scope]:
    """The params, and the scope of what follows them."""
    compiled = []
    for index, block in enumerate(blocks):
        path: paths.Path = ("params", index)
        source = _source(context, block.source, (*path, "source"), scope)
        if isinstance(source, EnvSource) and block.required and block.default is None:
            _require(context, source.name, environment, (*path, "source"), unset_variable)
        if block.type and isinstance(source, ApiCallSource | ExpressionSource):
            message = "the type is not used: the value of a call or an expression has its own"
            context.report(Severity.ADVICE, "ignored", message, context.place((*path, "type"), key=True), "remove it")
        elif block.type and block.type not in TYPES:
            message = f"{block.type!r} is not one of {', '.join(TYPES)}"
            context.report(Severity.MISTAKE, "param-type", message, context.place((*path, "type")))
        compiled.append(
            Param(
                name=block.name,
                source=source,
                written=block.source.strip() if isinstance(block.source, str) else _written(block.source),
                type_=block.type,
                default=block.default if "default" in block.model_fields_set else ABSENT,
                required=block.required,
                place=context.place(path),
            )
        )
        scope = scope.with_variables(block.name)
    return tuple(compiled), scope


def _require(context: Context, name: str, environment: Mapping[str, str], path: paths.Path, severity: Severity) -> None:
    if not environment.get(name):
        message = f"the environment variable {name} is required and not set"
        context.report(severity, "environment", message, context.place(path), "set it, or give the param a default")


def _written(block: SourceBlock) -> str:
    return next(iter(block.model_fields_set), "")


def _source(context: Context, source: SourceBlock | str, path: paths.Path, scope: Scope) -> ParamSource:
    if isinstance(source, str):
        return _text_source(context, source.strip(), path, scope)
    if source.api_call is not None:
        return ApiCallSource(api_call(context, source.api_call, (*path, "api_call"), scope))
    if source.file is not None:
        file = Path(source.file.path)
        if not file.is_absolute():
            place = context.place((*path, "file", "path"))
            message = f"{source.file.path!r} is relative to the folder the adapter is started in"
            context.report(Severity.ADVICE, "relative-file", message, place, "write an absolute path")
        return FileSource(file, source.file.trim)
    if source.secret is not None:
        return _object_key("Secret", source.secret)
    if source.configmap is not None:
        return _object_key("ConfigMap", source.configmap)
    expression = context.cel(source.expression or "", context.locate((*path, "expression")), scope.cel)
    return ExpressionSource(expression)


def _object_key(kind: Literal["Secret", "ConfigMap"], block: ObjectKeyBlock) -> ObjectKeySource:
    return ObjectKeySource(kind, block.namespace, block.name, block.key)


def _text_source(context: Context, text: str, path: paths.Path, scope: Scope) -> ParamSource:
    root, _, rest = text.partition(".")
    segments = tuple(rest.split(".")) if rest else ()
    if root == "env" and rest:
        return EnvSource(rest)
    if root == "event" and rest:
        return EventSource(segments)
    if root == "config" and rest:
        return ConfigSource(segments)
    if root in OBJECT_KINDS and root not in scope.variables:
        namespace, _, named = rest.partition(".")
        name, _, key = named.partition(".")
        if namespace and name and key:
            return ObjectKeySource(OBJECT_KINDS[root], namespace, name, key)
        hint = f"write {root}.NAMESPACE.NAME.KEY, or {{{root}: {{namespace: …, name: …, key: …}}}}"
        context.report(Severity.MISTAKE, "source", f"{text!r} names no key of a {root}", context.place(path), hint)
    return PathSource(tuple(text.split(".")))
