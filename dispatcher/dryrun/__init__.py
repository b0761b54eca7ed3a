"""The engine without the world: the same phases and decisions over ports that answer from files and memory."""
