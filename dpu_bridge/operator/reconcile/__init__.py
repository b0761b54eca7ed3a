"""One pass of a bridge: its queue, what it observes, and carrying out its plan."""
