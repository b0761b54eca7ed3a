"""A management cluster's work agent, simulated: it applies works and reports on them as its script says."""

from lab.maestro.agent.agent_status import Script
from lab.maestro.agent.work_agent import Agent

__all__ = ["Agent", "Script"]
