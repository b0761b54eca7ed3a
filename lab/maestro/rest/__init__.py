"""Maestro's REST API."""
