"""`make demo`: runs the system on one machine and prints each step with its time."""
