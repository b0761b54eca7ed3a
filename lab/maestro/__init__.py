"""Maestro in memory: both gRPC ports, REST and the rows behind them, with the real server's answers to the letter."""

from lab.maestro.faults import Faults
from lab.maestro.server import LabMaestro
from lab.tls import Tls

__all__ = ["Faults", "LabMaestro", "Tls"]
