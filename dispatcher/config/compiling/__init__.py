"""From the models to the values the engine runs: every expression, template and path compiled, its uses remembered."""
