"""Servers, configurations and the bare probe for the dispatcher's measurement."""
