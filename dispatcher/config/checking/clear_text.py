"""Secrets that stand in a file as they are."""

from collections.abc import Iterator
from typing import Any

from dispatcher.config.compiling.context import Context
from dispatcher.config.findings import Severity
from dispatcher.config.models.task import ApiCallBlock, SourceBlock, TaskConfig
from dispatcher.config.reading.paths import Path
from dispatcher.config.showing.redacting import is_secret

_HINT = "take it from a param with the source secret.NAMESPACE.NAME.KEY"


def check_clear_text(context: Context, task: TaskConfig) -> None:
    for path, name, value in _texts(task):
        if value and "{{" not in value and is_secret(name, value):
            message = f"{name} looks like a secret in clear text"
            context.report(Severity.MISTAKE, "clear-text-secret", message, context.place(path), _HINT)
    for index, resource in enumerate(task.resources):
        if isinstance(resource.manifest, dict):
            for path in _in_manifest(resource.manifest, ("resources", index, "manifest")):
                message = "a Secret's data stands here in clear text"
                context.report(Severity.MISTAKE, "clear-text-secret", message, context.place(path), _HINT)


def _texts(task: TaskConfig) -> Iterator[tuple[Path, str, str]]:
    for index, param in enumerate(task.params):
        if isinstance(param.default, str):
            yield ("params", index, "default"), param.name, param.default
        if isinstance(param.source, SourceBlock) and param.source.api_call:
            yield from _headers(param.source.api_call, ("params", index, "source", "api_call"))
    for index, precondition in enumerate(task.preconditions):
        yield from _headers(precondition.api_call, ("preconditions", index, "api_call"))
    for index, action in enumerate(task.post.post_actions):
        yield from _headers(action.api_call, ("post", "post_actions", index, "api_call"))


def _headers(call: ApiCallBlock | None, path: Path) -> Iterator[tuple[Path, str, str]]:
    for number, header in enumerate(call.headers if call else ()):
        yield (*path, "headers", number, "value"), header.name, header.value


def _in_manifest(manifest: Any, path: Path) -> Iterator[Path]:
    """Members of a Secret's data that no template fills, also of a Secret inside a ManifestWork."""
    if isinstance(manifest, list):
        for index, element in enumerate(manifest):
            yield from _in_manifest(element, (*path, index))
    if not isinstance(manifest, dict):
        return
    for key, value in manifest.items():
        if manifest.get("kind") == "Secret" and key in {"data", "stringData"} and isinstance(value, dict):
            for name, each in value.items():
                if isinstance(each, str) and each and "{{" not in each:
                    yield (*path, key, name)
        else:
            yield from _in_manifest(value, (*path, key))
