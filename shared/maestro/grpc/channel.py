"""The gRPC side of Maestro: one channel for what is published and what is subscribed to.

One, because Maestro answers a resync only on the replica that was asked. The channel is built anew when certificates on
disk change; running calls on the old one finish first.
"""

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import grpc.aio

from shared.errors import Misconfigured
from shared.maestro.config.settings import MaestroSettings
from shared.maestro.grpc.refusals import from_grpc
from shared.maestro.wire import cloudevent_pb2 as wire
from shared.maestro.wire.cloudevent_pb2_grpc import CloudEventServiceStub
from shared.maestro.wire.codec import DATA_TYPE, Envelope
from shared.network.credential_files import TokenFile, Watched, read_file

if TYPE_CHECKING:  # the type checker knows more of grpc than the running code has
    from shared.maestro.wire.cloudevent_pb2_grpc import CloudEventServiceAsyncStub

    StatusCall = grpc.aio.UnaryStreamCall[wire.SubscriptionRequest, wire.CloudEvent]
else:
    StatusCall = grpc.aio.UnaryStreamCall

log = logging.getLogger(__name__)


class GrpcChannel:
    """Publishes events and opens the status stream. It must be made where an event loop runs, and be closed there."""

    def __init__(self, settings: MaestroSettings) -> None:
        self._settings = settings
        self._files = Watched([settings.ca_file, settings.cert_file, settings.key_file])
        self._token = TokenFile(settings.token_file) if settings.token_file else None
        self._retiring: set[asyncio.Task[None]] = set()
        self._open()

    async def publish(self, envelope: Envelope, what: str) -> None:
        """Send one event; when this returns, Maestro has stored it."""
        self.refresh()
        request = wire.PublishRequest(event=envelope.to_proto())
        try:
            await self._stub.Publish(request, timeout=self._settings.timeout, metadata=self._metadata())
        except grpc.aio.AioRpcError as error:
            raise from_grpc(what, error.code(), error.details() or "", self._settings.grpc_names) from error

    def subscribe(self) -> StatusCall:
        """The stream of status events of everything this source has sent."""
        self.refresh()
        request = wire.SubscriptionRequest(source=self._settings.source_id, data_type=DATA_TYPE)
        return self._stub.Subscribe(request, metadata=self._metadata())

    def refresh(self) -> bool:
        """Whether the certificates had changed and a new channel was opened."""
        if not self._files.changed():
            return False
        old = self._channel
        try:
            self._open()
        except Misconfigured as error:
            log.warning("keeping the previous certificates: %s", error)
            return False
        self._retire(old)
        return True

    async def close(self) -> None:
        await self._channel.close()
        for task in list(self._retiring):
            await task

    def _open(self) -> None:
        credentials = channel_credentials(self._settings)
        target, options = self._settings.grpc_target, _channel_options(self._settings)
        self._channel: grpc.aio.Channel = (
            grpc.aio.secure_channel(target, credentials, options=options)
            if credentials
            else grpc.aio.insecure_channel(target, options=options)
        )
        self._stub: CloudEventServiceAsyncStub = CloudEventServiceStub(self._channel)

    def _retire(self, channel: grpc.aio.Channel) -> None:
        task = asyncio.create_task(channel.close(grace=self._settings.timeout))
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    def _metadata(self) -> tuple[tuple[str, str], ...]:
        return (("authorization", self._token.header),) if self._token else ()


def _channel_options(settings: MaestroSettings) -> list[tuple[str, int]]:
    return [
        # A status event carries the whole spec and up to 1 MiB per feedback value; the default of 4 MiB is too little.
        ("grpc.max_receive_message_length", -1),
        ("grpc.max_send_message_length", -1),
        ("grpc.keepalive_time_ms", int(settings.keepalive_time * 1000)),
        ("grpc.keepalive_timeout_ms", int(settings.keepalive_timeout * 1000)),
        ("grpc.keepalive_permit_without_calls", 0),
        ("grpc.initial_reconnect_backoff_ms", 500),
        ("grpc.max_reconnect_backoff_ms", 10_000),
        ("grpc.enable_retries", 0),
    ]


def channel_credentials(settings: MaestroSettings) -> grpc.ChannelCredentials | None:
    """TLS for gRPC, None where the settings say to go without."""
    if settings.insecure:
        return None
    return grpc.ssl_channel_credentials(
        root_certificates=_optional(settings.ca_file, "CA"),
        private_key=_optional(settings.key_file, "client key"),
        certificate_chain=_optional(settings.cert_file, "client certificate"),
    )


def _optional(path: Path | None, role: str) -> bytes | None:
    return None if path is None else read_file(path, role)
