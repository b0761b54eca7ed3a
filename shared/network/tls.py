"""TLS verification: by one CA file, or by the system's CAs.

Python 3.13 began to refuse certificates that lack what RFC 5280 asks of them beside a valid chain, such as the key
identifier of their CA. Clusters are full of such certificates, and Go accepts them; the chain and the host name are
what is verified here, with every Python alike.
"""

import os
import ssl
from pathlib import Path


def verifying(authority: Path | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(authority) if authority else None)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def system_authorities() -> list[Path]:
    """The files of the system's CAs, as `SSL_CERT_FILE` and `SSL_CERT_DIR` name them or OpenSSL was built."""
    paths = ssl.get_default_verify_paths()
    return [
        Path(os.environ.get(variable, built_in))
        for variable, built_in in (
            (paths.openssl_cafile_env, paths.openssl_cafile),
            (paths.openssl_capath_env, paths.openssl_capath),
        )
    ]
