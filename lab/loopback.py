"""Where stand-ins listen: a port on loopback that stays theirs while they are down; and processes around them."""

import asyncio
import signal
import socket

HOST = "127.0.0.1"


class ReservedPort:
    """Bound but not listening: connections are refused, and nobody else is given the port until `release`."""

    def __init__(self, number: int = 0) -> None:
        """Take this port, or a free one for 0. Raises OSError, which names the port, where it is taken."""
        self._holder = socket.socket()
        self._holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._holder.bind((HOST, number))
        except OSError as error:
            self._holder.close()
            raise OSError(error.errno, f"port {number} on {HOST} is not available: {error.strerror}") from error
        self.number: int = self._holder.getsockname()[1]

    def release(self) -> None:
        self._holder.close()


def stop_signal() -> asyncio.Event:
    """Set when this process is interrupted or terminated, from now on."""
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    return stopped


async def until_stopped() -> None:
    """Return when somebody interrupts or terminates this process."""
    await stop_signal().wait()
