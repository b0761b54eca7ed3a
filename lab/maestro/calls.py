"""How a gRPC call is refused: with a status that a handler raises, and for its size before anything else."""

from typing import Any

import grpc

from shared.maestro.wire.cloudevent_pb2 import PublishRequest

Context = grpc.aio.ServicerContext[Any, Any]
MAX_MESSAGE_BYTES = 4 * 1024 * 1024


class Failed(Exception):
    """A call that ends with this status."""

    def __init__(self, code: grpc.StatusCode, details: str) -> None:
        super().__init__(details)
        self.code = code
        self.details = details


def require_size(request: PublishRequest) -> None:
    """Raises Failed for a message above the server's limit, as Go's gRPC words it."""
    size = request.ByteSize()
    if size > MAX_MESSAGE_BYTES:
        details = f"grpc: received message larger than max ({size} vs. {MAX_MESSAGE_BYTES})"
        raise Failed(grpc.StatusCode.RESOURCE_EXHAUSTED, details)
