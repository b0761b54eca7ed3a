"""The functions that a template can call, and how Go formats what they return."""
