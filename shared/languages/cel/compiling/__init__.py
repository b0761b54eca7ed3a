"""From the syntax tree to closures, and what can be known to be wrong before they run."""
