"""The embedded broker: topics and subscriptions in memory, over loopback TCP (`shared.embedded_broker`)."""

from lab.broker.server import LabBroker

__all__ = ["LabBroker"]
