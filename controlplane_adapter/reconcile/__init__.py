"""Bringing the ManifestWork in Maestro to what the snapshot asks for: observe, desire, decide, carry out."""
