"""The report file: reading it, noticing its changes, and what is known from it."""
