"""The adapter framework: configuration, expressions, the four phases, brokers and runtime."""
