"""A Kubernetes API server in memory, with the real server's answers, and the Jobs of it run as local processes."""

from lab.kubernetes.access import EVERYTHING, Rule
from lab.kubernetes.faults import Faults
from lab.kubernetes.handling import Seen
from lab.kubernetes.server import LabKubernetes

__all__ = ["EVERYTHING", "Faults", "LabKubernetes", "Rule", "Seen"]
