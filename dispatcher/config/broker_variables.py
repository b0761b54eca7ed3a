"""The environment variables of the broker config: its keys in capitals, joined by underscores."""

from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from dispatcher.config.models.broker import BrokerConfig
from dispatcher.config.models.structure import blocks_in
from dispatcher.config.overrides import Override
from dispatcher.config.reading.paths import Path


def broker_overrides(environment: Mapping[str, str]) -> Iterator[Override]:
    """Every key of the broker config has its variable, whether or not the file has the key."""
    for path in model_leaves(BrokerConfig):
        variable = "_".join(map(str, path)).upper()
        if environment.get(variable):
            yield Override(path, environment[variable], f"${variable}")


def model_leaves(model: type[BaseModel], path: Path = ()) -> Iterator[Path]:
    """The paths of a model's scalars."""
    for name, field in model.model_fields.items():
        inner = next(iter(blocks_in(field.annotation)), None)
        if inner is None:
            yield (*path, name)
        else:
            yield from model_leaves(inner, (*path, name))
