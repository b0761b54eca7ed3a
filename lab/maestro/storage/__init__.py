"""What Maestro stores, and what it rejects before it stores it."""
