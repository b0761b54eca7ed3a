"""Which protocol a configured URL asks for, if it can be connected to at all."""

from urllib.parse import urlsplit


def usable_scheme(url: str) -> str:
    """The scheme of a URL with a host and a port that can be, or ""; RabbitMQ's `amqp:` has a host by default."""
    try:
        parts = urlsplit(url)
        is_usable = parts.port != 0 and (parts.hostname or parts.scheme in ("amqp", "amqps"))
    except ValueError:
        return ""
    return parts.scheme if is_usable else ""
