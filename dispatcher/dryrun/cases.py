"""Test cases of adapters: folders with an event, mocks and what is expected.

    adapter-config.yaml   here or in a folder above
    task-config.yaml      here or in a folder above
    event.json            one event, or a list
    api-responses.json    optional, as are the next three
    discovery.json
    secrets.json
    environment.json      variables beside those of the process
    expected.json         the trace, or the part of it that matters
    expected.txt          optional: the trace as text, compared whole

An event without a time takes place at the beginning of 2026, so that traces do not change from day to day.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dispatcher.config.loading import load
from dispatcher.dryrun.comparing import differences
from dispatcher.dryrun.json_trace import json_trace
from dispatcher.dryrun.reading import (
    read_environment,
    read_events,
    read_overrides,
    read_responses,
    read_secrets,
)
from dispatcher.dryrun.rehearsing import Rehearsal, Script, rehearse
from dispatcher.dryrun.text_trace import text_trace
from shared.errors import Misconfigured
from shared.untrusted_json import whole_characters

_EVENT, _EXPECTED, _EXPECTED_TEXT = "event.json", "expected.json", "expected.txt"
_BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    name: str
    folder: Path
    adapter_config: Path
    task_config: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`differences` from what is expected; none where the case passes."""

    case: Case
    differences: tuple[str, ...]


def find_cases(root: Path, *, adapter_config: Path | None = None, task_config: Path | None = None) -> Iterator[Case]:
    """All folders below `root`, or `root` itself, that hold an event and an expectation. Raises Misconfigured."""
    for event in sorted(root.rglob(_EVENT)):
        folder = event.parent
        if (folder / _EXPECTED).is_file():
            yield Case(
                name=str(folder.relative_to(root)) if folder != root else folder.name,
                folder=folder,
                adapter_config=adapter_config or _above(folder, root, "adapter-config.yaml"),
                task_config=task_config or _above(folder, root, "task-config.yaml"),
            )


def _above(folder: Path, root: Path, name: str) -> Path:
    for each in (folder, *folder.parents):
        if (each / name).is_file():
            return each / name
        if each == root:
            break
    raise Misconfigured(f"{folder} has no {name}, nor has a folder above it", remedy=f"put one there, up to {root}")


async def play(case: Case, environment: Mapping[str, str]) -> tuple[Rehearsal, ...]:
    """Raises Misconfigured where the configuration or a file of the case is refused."""
    variables = {**environment, **_read(case.folder / "environment.json", read_environment, default={})}
    loaded = load(case.adapter_config, case.task_config, environment=variables)
    script = Script(
        events=_read(case.folder / _EVENT, read_events),
        now=_BEGINNING,
        endpoints=_read(case.folder / "api-responses.json", read_responses, default=()),
        overrides=_read(case.folder / "discovery.json", read_overrides, default={}),
        secrets=_read(case.folder / "secrets.json", read_secrets, default={}),
        environment=variables,
    )
    return await rehearse(loaded.adapter, script)


async def run_case(case: Case, environment: Mapping[str, str]) -> Verdict:
    try:
        rehearsals = await play(case, environment)
        found = list(differences(_read(case.folder / _EXPECTED, lambda document: document), trace_of(rehearsals)))
        text = case.folder / _EXPECTED_TEXT
        if text.is_file():
            found.extend(_line_differences(_text(text), text_trace(rehearsals, verbose=False)))
    except Misconfigured as error:
        return Verdict(case=case, differences=(str(error),))
    return Verdict(case=case, differences=tuple(found))


async def record(case: Case, environment: Mapping[str, str]) -> None:
    """Makes what happens now what is expected. Raises Misconfigured where it cannot be written, too."""
    rehearsals = await play(case, environment)
    _write(case.folder / _EXPECTED, json.dumps(trace_of(rehearsals), indent=2, ensure_ascii=False) + "\n")
    text = case.folder / _EXPECTED_TEXT
    if text.is_file():
        _write(text, text_trace(rehearsals, verbose=False))


def trace_of(rehearsals: tuple[Rehearsal, ...]) -> Any:
    """One trace for one event, a list for several, with bodies of requests as JSON."""
    traces = [json_trace(each, verbose=True) for each in rehearsals]
    for trace in traces:
        for request in trace.get("apiRequests", ()):
            request |= {name: _parsed(request[name]) for name in ("requestBody", "responseBody") if name in request}
    return traces[0] if len(traces) == 1 else traces


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _line_differences(expected: str, actual: str) -> Iterator[str]:
    left, right = expected.splitlines(), actual.splitlines()
    for number in range(max(len(left), len(right))):
        wanted, found = (lines[number] if number < len(lines) else "nothing" for lines in (left, right))
        if wanted != found:
            yield f"{_EXPECTED_TEXT}:{number + 1}: expected {wanted!r}, found {found!r}"
            return


def _read(file: Path, reader: Callable[[Any], Any], default: Any = None) -> Any:
    if default is not None and not file.exists():
        return default
    try:
        return reader(json.loads(whole_characters(_text(file))))
    except RecursionError:
        raise Misconfigured(f"{file} cannot be read", why="it is nested too deeply") from None
    except ValueError as error:
        raise Misconfigured(f"{file} cannot be read", why=str(error)) from None
    except Misconfigured as error:
        raise Misconfigured(f"{file}: {error}") from None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise Misconfigured(f"{file} cannot be read", why=error.strerror or "") from None
    except ValueError:
        raise Misconfigured(f"{file} cannot be read", why="it is not text in UTF-8") from None


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Misconfigured(f"{file} cannot be written", why=error.strerror or "") from None
