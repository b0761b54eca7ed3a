"""The Job: one PATCH of its status, and what it contains."""
