"""The gRPC side of a client: one channel, and the one status stream on it."""

from shared.maestro.config.settings import MaestroSettings
from shared.maestro.grpc.channel import GrpcChannel
from shared.maestro.grpc.stream import StatusStream


class GrpcConnection:
    def __init__(self, settings: MaestroSettings) -> None:
        self.channel = GrpcChannel(settings)
        self.stream = StatusStream(self.channel, settings)

    async def close(self) -> None:
        await self.stream.close()
        await self.channel.close()
