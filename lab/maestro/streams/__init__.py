"""Maestro's gRPC ports: for sources, for agents, and the event streams of both."""
