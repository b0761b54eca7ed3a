"""The HTTP side of the API server: requests, authentication, authorization, discovery and injected faults."""
