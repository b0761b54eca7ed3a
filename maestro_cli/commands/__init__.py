"""One module per command or family of commands: each has `async def run(session)`, and imports what it needs."""
