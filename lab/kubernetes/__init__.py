"""A stand-in for the Kubernetes API server: objects in memory, the real server's responses, Jobs as local processes.

`api` (kinds, objects, paths, errors) < `apply`, `validation` < `storage` < `http_api` < `server`. `jobs` runs Jobs on
this stand-in or on a real API server.
"""

from lab.kubernetes.http_api.auth import EVERYTHING, Rule
from lab.kubernetes.http_api.faults import Faults
from lab.kubernetes.http_api.handler import Seen
from lab.kubernetes.server import LabKubernetes

__all__ = ["EVERYTHING", "Faults", "LabKubernetes", "Rule", "Seen"]
