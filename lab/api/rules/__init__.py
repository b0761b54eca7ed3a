"""What the API decides, apart from HTTP and storage: which reports it keeps, and what they say about a resource."""
