"""Jobs run as local processes, on the stand-in API server or on a real one that has neither controllers nor nodes."""

from lab.kubernetes.jobs.client import ApiServer
from lab.kubernetes.jobs.runner import JobRunner

__all__ = ["ApiServer", "JobRunner"]
