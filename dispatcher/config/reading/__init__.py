"""YAML with positions: what a file says, and where it says it."""
