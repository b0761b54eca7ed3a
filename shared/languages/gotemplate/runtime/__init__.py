"""Values, their comparison, and the state of one rendering."""
