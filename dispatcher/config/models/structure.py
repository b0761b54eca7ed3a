"""What pydantic finds wrong, as findings with places: the key or value itself, what was expected, the nearest name."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from dispatcher.config.compiled import Place
from dispatcher.config.findings import Finding, Severity
from dispatcher.config.models.blocks import Block
from dispatcher.config.models.fields import kind
from dispatcher.config.nearest import nearest
from dispatcher.config.reading.paths import Path

Locate = Callable[[Path, bool], tuple[Place, str]]
"""From a path, and whether its key is meant, to the place and the origin."""


def findings_of(error: ValidationError, model: type[BaseModel], locate: Locate) -> Iterator[Finding]:
    """One for each error; a key that is only misspelt is not reported as missing too."""
    lines = error.errors(include_url=False)
    meant = {(_path(line)[:-1], _meant(model, _path(line))) for line in lines if line["type"] == "extra_forbidden"}
    for line in lines:
        path, wanted = _path(line), (line.get("ctx") or {}).get("wanted", ())
        missing = [(path[:-1], path[-1])] if line["type"] == "missing" else [(path, name) for name in wanted]
        if not meant.intersection(missing):
            yield _finding(line, model, locate)


def _path(line: Mapping[str, Any]) -> Path:
    return tuple(step for step in line["loc"] if not str(step).startswith("<"))


def _meant(model: type[BaseModel], path: Path) -> str | None:
    return nearest(str(path[-1]), _keys(model, path[:-1]))


def _finding(line: Mapping[str, Any], model: type[BaseModel], locate: Locate) -> Finding:
    path = _path(line)
    context = line.get("ctx") or {}
    hint = str(context.get("hint", ""))
    match line["type"]:
        case "config":
            rule, message = "invalid-value", str(context["problem"])
        case "missing":
            rule, message, hint = "missing-key", f"{path[-1]} is missing", _described(model, path)
        case "extra_forbidden":
            known = _keys(model, path[:-1])
            rule, message, hint = "unknown-key", f"there is no key {path[-1]!r} here", _known(str(path[-1]), known)
        case "enum" | "literal_error":
            rule, (message, hint) = "invalid-value", _choice(line)
        case "string_too_short" | "too_short":
            rule, message = "invalid-value", "must not be empty"
        case "model_type" | "model_attributes_type" | "dict_type":
            rule, message = "invalid-kind", f"must be a mapping, not {kind(line['input'])}"
        case "list_type":
            rule, message = "invalid-kind", f"must be a list, not {kind(line['input'])}"
        case "greater_than_equal" | "less_than_equal":
            bound = "at least" if line["type"].startswith("g") else "at most"
            rule, message = "invalid-value", f"must be {bound} {context.get('ge', context.get('le'))}"
        case _:
            rule, message = "invalid-value", str(line["msg"])
    place, origin = locate(path, rule == "unknown-key")
    return Finding(severity=Severity.REFUSED, rule=rule, message=message, place=place, hint=hint, origin=origin)


def _choice(line: Mapping[str, Any]) -> tuple[str, str]:
    expected = str((line.get("ctx") or {}).get("expected", ""))
    choices = [choice.strip(" '") for choice in expected.replace(" or ", ", ").split(",")]
    written = str(line["input"]) if isinstance(line["input"], str) else kind(line["input"])
    near = nearest(written, choices)
    message = f"{written!r} is not one of {', '.join(choice for choice in choices if choice)}"
    return message, f"did you mean {near}?" if near else ""


def _known(name: str, known: list[str]) -> str:
    near = nearest(name, known)
    if near:
        return f"did you mean {near}?"
    return f"the keys are {', '.join(known)}" if known else ""


def _keys(model: type[BaseModel], path: Path) -> list[str]:
    inner = model_at(model, path)
    return list(inner.model_fields) if inner else []


def _described(model: type[BaseModel], path: Path) -> str:
    inner = model_at(model, path[:-1])
    field = inner.model_fields.get(str(path[-1])) if inner else None
    return f"{path[-1]} is {field.description}" if field and field.description else ""


def model_at(model: type[BaseModel], path: Path) -> type[BaseModel] | None:
    """The block that stands at a path."""
    inner: type[BaseModel] | None = model
    for step in path:
        if isinstance(step, int):
            continue
        field = inner.model_fields.get(step) if inner else None
        inner = next(iter(blocks_in(field.annotation)), None) if field else None
    return inner


def blocks_in(annotation: Any) -> Iterator[type[Block]]:
    """The blocks a type is made of, as in `list[ParamBlock]` or `ApiCallBlock | None`."""
    if isinstance(annotation, type) and issubclass(annotation, Block):
        yield annotation
    for inner in get_args(annotation):
        yield from blocks_in(inner)
