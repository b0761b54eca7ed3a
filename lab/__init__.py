"""Stand-ins of the systems around the adapters, and the demonstration that runs on them."""
