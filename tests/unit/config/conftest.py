"""Configurations of tests are texts beside the test; a fixture writes them to files and loads them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from dispatcher.config.findings import Finding
from dispatcher.config.loading import Inspection, Loaded, inspect, load

ADAPTER = "adapter: {name: demo}\n"
TASK = "params: []\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    def written(name: str, text: str) -> Path:
        file = tmp_path / name
        file.write_text(dedent(text))
        return file

    return written


@pytest.fixture
def loaded(write: Callable[[str, str], Path]) -> Callable[..., Loaded]:
    def from_texts(
        task: str = TASK,
        adapter: str = ADAPTER,
        *,
        broker: str | None = None,
        environment: Mapping[str, str] | None = None,
        flags: Mapping[str, str] | None = None,
        strict: bool = False,
    ) -> Loaded:
        return load(
            write("adapter.yaml", adapter),
            write("task.yaml", task),
            broker_file=write("broker.yaml", broker) if broker is not None else None,
            environment=environment or {},
            flags=flags or {},
            strict=strict,
        )

    return from_texts


@pytest.fixture
def inspected(write: Callable[[str, str], Path]) -> Callable[..., Inspection]:
    def from_texts(
        task: str = TASK,
        adapter: str = ADAPTER,
        *,
        broker: str | None = None,
        environment: Mapping[str, str] | None = None,
        flags: Mapping[str, str] | None = None,
    ) -> Inspection:
        return inspect(
            write("adapter.yaml", adapter),
            write("task.yaml", task),
            broker_file=write("broker.yaml", broker) if broker is not None else None,
            environment=environment or {},
            flags=flags or {},
        )

    return from_texts


@pytest.fixture
def found(inspected: Callable[..., Inspection]) -> Callable[..., list[Finding]]:
    return lambda *arguments, **options: list(inspected(*arguments, **options).findings)
