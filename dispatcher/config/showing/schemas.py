"""The configuration files as JSON Schema, made from the models."""

from typing import Any, Final

from dispatcher.config.models.adapter import AdapterConfig
from dispatcher.config.models.blocks import Block
from dispatcher.config.models.broker import BrokerConfig
from dispatcher.config.models.task import TaskConfig

MODELS: Final[dict[str, type[Block]]] = {"adapter": AdapterConfig, "task": TaskConfig, "broker": BrokerConfig}


def schema(kind: str) -> dict[str, Any]:
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    document.update(MODELS[kind].model_json_schema())
    return document
