"""Objects that wake others: Jobs and other resources on Kubernetes, works on Maestro."""
