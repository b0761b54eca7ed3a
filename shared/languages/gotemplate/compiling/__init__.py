"""From the syntax tree to closures, and which variables a template reads."""
