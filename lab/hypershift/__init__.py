"""A simulated HyperShift operator for any API server: it writes the real operator's statuses, at any speed.

`sequences` decides what to write next (pure), `operator` lists, watches and writes.
"""
