"""HTTP to one API server: a session, its sockets, its rate, and what refusals mean."""
