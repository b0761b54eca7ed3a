"""What an operator sees of a running dispatcher: metrics, health, spans, and what is known of each object."""
