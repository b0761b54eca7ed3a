"""The whole system on one machine: stand-ins of everything around us, and our own programs as real processes."""

from lab.system.pace import Pace
from lab.system.parts import Part
from lab.system.system import LabSystem

__all__ = ["LabSystem", "Pace", "Part"]
