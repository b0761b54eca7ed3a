"""The real servers as processes on loopback, one module for each."""
