"""Which Kubernetes rights an adapter needs, from its task config alone."""
