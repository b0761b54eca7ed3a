"""REST: the HTTP pool and its sockets, JSON requests, and lists page by page."""
