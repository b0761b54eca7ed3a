"""The HyperFleet API in memory: clusters, node pools and the statuses of adapters, with the real server's answers."""

from lab.api.http_api.seen import Seen
from lab.api.rules.evaluation import Discard
from lab.api.server import LabApi

__all__ = ["Discard", "LabApi", "Seen"]
