"""The Maestro client's settings as an adapter config has them; flags and environment are already in it."""

from dispatcher.config.models.adapter import AdapterConfig
from shared.errors import Misconfigured
from shared.maestro import MaestroSettings


def maestro_settings(config: AdapterConfig) -> MaestroSettings:
    """Raises Misconfigured with all problems."""
    if config.clients.maestro is None:
        raise Misconfigured(
            "Maestro is not set up", why="clients.maestro is missing", remedy="add it to the adapter config"
        )
    return MaestroSettings.load({}, config.clients.maestro.model_dump(exclude_none=True))
