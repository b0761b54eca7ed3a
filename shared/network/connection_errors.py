"""What to say about a connection that failed: the cause, without the objects an HTTP library puts into its text."""


def cause_of(error: BaseException) -> str:
    """For an error of the operating system, or of an HTTP library that has it as `os_error`, such as aiohttp."""
    inner = getattr(error, "os_error", None)
    if not isinstance(inner, OSError):
        return str(error) or type(error).__name__
    text = inner.strerror or str(inner) or type(inner).__name__
    host, port = getattr(error, "host", None), getattr(error, "port", None)
    return f"no connection to {host}:{port}: {text}" if host else text
