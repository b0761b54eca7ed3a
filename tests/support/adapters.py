"""Compiled adapters for tests of the runtime, made by hand: only what the runtime looks at."""

from collections.abc import Mapping
from typing import Any

from dispatcher.config.compiled import Adapter, Discovery, Place, Resource
from shared.languages.clock import Clock

PLACE = Place(file="task.yaml", line=1, column=1, path="")


class PlainManifest:
    def __init__(self, api_version: str, kind: str) -> None:
        self.api_version = api_version
        self.kind = kind

    def render(self, variables: Mapping[str, Any], *, clock: Clock) -> dict[str, Any]:
        raise AssertionError("the runtime renders nothing")


def resource(name: str = "job", kind: str = "Job", api_version: str = "batch/v1", **more: Any) -> Resource:
    values: dict[str, Any] = {"watch": kind == "Job", "discovery": Discovery(), **more}
    return Resource(name=name, manifest=PlainManifest(api_version, kind), place=PLACE, **values)


def adapter(*resources: Resource) -> Adapter:
    return Adapter(name="dns", version="1", config={}, redacted_config={}, resources=resources)
