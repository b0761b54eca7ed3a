"""TLS verification: by one CA file, or by the system's CAs.

Python 3.13 began to refuse certificates that lack what RFC 5280 asks of them beside a valid chain, such as the key
identifier of their CA. Clusters are full of such certificates, and Go accepts them; the chain and the host name are
what is verified here, with every Python alike.
"""

import ssl
from pathlib import Path


def verifying(authority: Path | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(authority) if authority else None)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context
