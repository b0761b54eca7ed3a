"""The HyperShift operator, played on any API server: statuses as the real one writes them, at any speed.

`sequences` says what it would write next (pure), `operator` lists, watches and writes.
"""
