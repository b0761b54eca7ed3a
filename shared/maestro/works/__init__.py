"""Works as a client handles them: reading, writing, following, and what is decided about them."""
