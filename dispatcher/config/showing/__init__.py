"""What is shown of a configuration: its findings, its values without secrets, its schema."""
