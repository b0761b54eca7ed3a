"""From the author's YAML to an adapter that can run: read, checked with positions, compiled once."""
