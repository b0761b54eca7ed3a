"""What the API server rejects before it stores an object."""
