"""Less memory for each TLS connection.

asyncio gives every TLS connection a read buffer of 256 KiB. A watch needs little of it, and the operator has two
watches per bridge: 200 bridges would take 100 MiB for empty buffers. A TLS record has at most 16 KiB.
"""

from asyncio.sslproto import SSLProtocol

READ_BUFFER_BYTES = 32 * 1024


def shrink() -> None:
    """For the connections that are made from now on, in the whole process."""
    SSLProtocol.max_size = READ_BUFFER_BYTES
