"""The settings of the client: their table, their checks, and the credential files they name."""
