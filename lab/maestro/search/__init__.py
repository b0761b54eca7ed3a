"""Maestro's search parameter."""
