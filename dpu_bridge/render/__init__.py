"""The objects that a bridge needs, as manifests for server-side apply. Pure."""
