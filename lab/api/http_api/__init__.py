"""The API over HTTP: routes, bodies and documents."""
