"""`make demo`: the system at work on one machine, step by step and timed. It grows with the system."""
