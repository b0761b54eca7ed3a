"""Values, their comparison and conversion to JSON, and the state of one evaluation."""
