"""A new adapter's folder: what `init` writes."""
