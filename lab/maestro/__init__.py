"""A stand-in for Maestro: REST, both gRPC ports and the rows, in memory, with the real server's responses.

`storage` < `search` < `rest`, `streams` < `server`. `agent` simulates a management cluster's work agent; it also works
with the real Maestro.
"""

from lab.maestro.faults import Faults
from lab.maestro.server import LabMaestro
from lab.tls import Tls

__all__ = ["Faults", "LabMaestro", "Tls"]
