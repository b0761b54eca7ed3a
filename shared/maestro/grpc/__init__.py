"""gRPC: the channel, the status stream on it, and its refusals. Loaded by the first write or watch."""
