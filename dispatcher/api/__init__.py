"""The client of the HyperFleet API: the live side of the engine's `HyperFleetApi` port."""

from dispatcher.api.client import ApiClient
from dispatcher.api.settings import ApiSettings

__all__ = ["ApiClient", "ApiSettings"]
