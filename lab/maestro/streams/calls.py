"""gRPC errors of the handlers, and the limit of a message's size."""

from typing import Any

import grpc

from shared.maestro.wire.cloudevent_pb2 import PublishRequest

Context = grpc.aio.ServicerContext[Any, Any]
MAX_MESSAGE_BYTES = 4 * 1024 * 1024


class Failed(Exception):
    """The call ends with this status."""

    def __init__(self, code: grpc.StatusCode, details: str) -> None:
        super().__init__(details)
        self.code = code
        self.details = details


def require_size(request: PublishRequest) -> None:
    """Raises Failed, with the text of Go's gRPC, for a message above the server's limit."""
    size = request.ByteSize()
    if size > MAX_MESSAGE_BYTES:
        details = f"grpc: received message larger than max ({size} vs. {MAX_MESSAGE_BYTES})"
        raise Failed(grpc.StatusCode.RESOURCE_EXHAUSTED, details)
