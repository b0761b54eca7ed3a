"""Sentinel's part: it polls the HyperFleet API and publishes an event for every resource that wants attention."""

from lab.sentinel.publishing import EmbeddedPublisher, Publisher
from lab.sentinel.sentinel import LabSentinel
from lab.sentinel.settings import Sentinel

__all__ = ["EmbeddedPublisher", "LabSentinel", "Publisher", "Sentinel"]
