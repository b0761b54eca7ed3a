"""The limits of a path."""

MAX_SOURCE = 16_384
MAX_NESTING = 16
"""Ranges inside each other."""
MAX_STEPS = 1_000_000
"""Enough for every key of a 10 MB document, and well below a second."""
MAX_RESULT = 16 * 1024 * 1024
"""Characters of the result as JSON, where it selects a value more than once."""
