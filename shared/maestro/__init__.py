"""An asynchronous client of Maestro: works and consumers by REST, changes by gRPC CloudEvents, one name per failure."""

from shared.maestro.client import MaestroClient
from shared.maestro.consumers import Consumer
from shared.maestro.settings import MaestroSettings
from shared.maestro.tracking import Change, WorkEvent
from shared.maestro.works import Action, Outcome, Works

__all__ = ["Action", "Change", "Consumer", "MaestroClient", "MaestroSettings", "Outcome", "WorkEvent", "Works"]
