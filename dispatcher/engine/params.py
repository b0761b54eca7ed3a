"""Phase 1: every param in the order of the file, from its source, converted.

A required param that cannot be resolved fails the phase; the others are resolved all the same, because post-actions
report the failure. An optional one takes its default, or is absent, and the reason is recorded. A 404 for the object of
the event is no failure: it is gone, and the run skips its resources.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

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
    PathSource,
)
from dispatcher.engine.calls import fetch
from dispatcher.engine.conversions import convert
from dispatcher.engine.running import NOT_FOUND, Failure, Run
from dispatcher.engine.runs import CallRecord, ParamRecord, Phase
from shared.errors import Invalid, NotFound, TooLarge

_MAX_FILE = 1024 * 1024


async def extract_params(run: Run, records: list[ParamRecord]) -> bool:
    """Whether the run goes on to its preconditions."""
    for param in run.adapter.params:
        calls: list[CallRecord] = []
        try:
            value = await _resolve(run, param, calls)
        except NotFound as error:
            if param.default is ABSENT and _asked_for_the_object(run, param, calls):
                records.append(_missing(run, param, error, calls))
                run.not_found = True
                run.skip(NOT_FOUND)
                return False
            records.append(_fall_back(run, param, error, calls))
        except Failure as error:
            records.append(_fall_back(run, param, error, calls))
        else:
            run.variables.set(param.name, value)
            records.append(ParamRecord(name=param.name, resolved=True, value=value, calls=tuple(calls)))
    return Phase.PARAMS not in run.errors


async def _resolve(run: Run, param: Param, calls: list[CallRecord]) -> Any:
    value = await _extract(run, param, calls)
    if param.default is not ABSENT and (value is None or value == ""):
        value = param.default
    if isinstance(param.source, ApiCallSource | ExpressionSource):
        return value
    return convert(value, param.type_)


def _fall_back(run: Run, param: Param, error: BaseException, calls: list[CallRecord]) -> ParamRecord:
    if param.required:
        return _failed(run, param, error, calls)
    if param.default is ABSENT:
        run.variables.remove(param.name)
        record = _missing(run, param, error, calls)
        run.note(f"optional param {param.name!r} is absent: {record.error}")
        return record
    run.variables.set(param.name, param.default)
    text = "" if isinstance(error, NotFound) and not calls else run.text_of(error)
    if text:
        run.warn(f"optional param {param.name!r} has its default: {text}")
    return ParamRecord(name=param.name, resolved=True, value=param.default, error=text, calls=tuple(calls))


def _failed(run: Run, param: Param, error: BaseException, calls: list[CallRecord]) -> ParamRecord:
    """The first failure is the phase's; later ones mostly follow from it. What can be resolved serves post-actions."""
    what = f"required param {param.name!r} cannot be resolved from {param.written!r}"
    if Phase.PARAMS in run.errors:
        run.note(f"{what} because {run.text_of(error)}")
    else:
        run.skip(run.fail(Phase.PARAMS, param.name, error, what=what))
    return _missing(run, param, error, calls)


def _missing(run: Run, param: Param, error: BaseException, calls: list[CallRecord]) -> ParamRecord:
    return ParamRecord(name=param.name, resolved=False, error=run.text_of(error), calls=tuple(calls))


def _asked_for_the_object(run: Run, param: Param, calls: list[CallRecord]) -> bool:
    """Whether the call was for the event's own object, not for something below or beside it."""
    identity = run.request.event.data.get("id")
    if not isinstance(param.source, ApiCallSource) or not calls or not identity:
        return False
    return urlsplit(calls[-1].url).path.rstrip("/").endswith(f"/{identity}")


async def _extract(run: Run, param: Param, calls: list[CallRecord]) -> Any:
    match param.source:
        case EnvSource(name):
            return _env(run, name)
        case EventSource(path):
            return _follow(run.request.event.data, path, "the event")
        case ConfigSource(path):
            return _follow(run.adapter.config, path, "the configuration")
        case PathSource(path):
            return _bare_path(run, path)
        case FileSource(path, trim):
            return _read(path, trim=trim, required=param.required)
        case ApiCallSource(call):
            return await fetch(run, call, calls)
        case ExpressionSource(program):
            return run.evaluate(program)
        case ObjectKeySource(kind, namespace, name, key):
            return await _object_key(run, kind, namespace, name, key)


def _env(run: Run, name: str) -> str:
    try:
        return run.ports.environment[name]
    except KeyError:
        raise NotFound(f"the environment has no variable {name}") from None


def _bare_path(run: Run, path: tuple[str, ...]) -> Any:
    first, rest = path[0], path[1:]
    if first in run.variables.names:
        return _follow(run.variables.template[first], rest, f"param {first!r}")
    return _follow(run.request.event.data, path, "the event")


def _follow(root: Any, path: tuple[str, ...], where: str) -> Any:
    value = root
    for depth, key in enumerate(path):
        if not isinstance(value, Mapping) or key not in value:
            raise NotFound(f"{where} has no {'.'.join(path[: depth + 1])}")
        value = value[key]
    return value


def _read(path: Path, *, trim: bool, required: bool) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_FILE + 1)
        if len(content) > _MAX_FILE:
            raise TooLarge(f"{path} has more than {_MAX_FILE} bytes")
        text = content.decode()
    except UnicodeDecodeError:
        raise Invalid(f"{path} is not text in UTF-8") from None
    except OSError as error:
        raise NotFound(f"{path} cannot be read", why=error.strerror or "") from None
    except ValueError as error:
        raise NotFound(f"{str(path)!r} cannot be read", why=str(error)) from None
    if required and not text.strip():
        raise Invalid(f"{path} is empty")
    return text.strip() if trim else text


async def _object_key(run: Run, kind: Any, namespace: str, name: str, key: str) -> str:
    value = await run.ports.secrets.read(kind, namespace, name, key)
    if kind == "Secret":
        run.secrets.add(value)
    return value
