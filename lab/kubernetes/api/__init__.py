"""Objects of the Kubernetes API as plain JSON, the kinds they have, their paths, and the errors of the API server."""
