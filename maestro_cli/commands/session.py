"""What every command works with: its arguments, the connection to Maestro, and the results file."""

import argparse
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final

from maestro_cli.connection.settings import maestro_settings, resolve
from maestro_cli.exits import UsageError
from maestro_cli.output.printing import Form
from maestro_cli.results import ResultsFile
from shared.errors import UnknownConsumer
from shared.maestro import MaestroClient, Works
from shared.times import parse_duration

DEFAULT_TIMEOUT: Final = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    arguments: argparse.Namespace
    environment: Mapping[str, str]
    results: ResultsFile

    @asynccontextmanager
    async def client(self) -> AsyncIterator[MaestroClient]:
        """The connection to Maestro that the options ask for."""
        with ExitStack() as scope:
            settings = maestro_settings(resolve(self.arguments, self.environment), scope, timeout=self.timeout)
            async with MaestroClient(settings) as client:
                yield client

    @property
    def writer(self) -> str:
        """Under which name manifests are brought; "" where none is given."""
        return resolve(self.arguments, self.environment)["field_manager"]

    @property
    def timeout(self) -> float | None:
        """Seconds of --timeout; None where it was not given or is 0."""
        text = getattr(self.arguments, "timeout", "0")
        try:
            return parse_duration(text) or None
        except ValueError as error:
            raise UsageError(f"--timeout {error}") from None

    @property
    def wait_seconds(self) -> float:
        return self.timeout or DEFAULT_TIMEOUT

    def form(self, default: str) -> Form:
        return Form.parse(getattr(self.arguments, "output", default))

    @property
    def consumer(self) -> str:
        """The management cluster, which must be given."""
        name: str = self.arguments.consumer
        if not name:
            raise UsageError("no management cluster is given", remedy="name it with --consumer")
        self.results.consumer = name
        return name

    @property
    def names(self) -> list[str]:
        """The works that were named, as arguments or by --name."""
        listed = self.arguments.names
        names = [*([listed] if isinstance(listed, str) else listed or []), *filter(None, [self.arguments.named])]
        if len(names) == 1:
            self.results.name = names[0]
        return names

    @property
    def name(self) -> str:
        """The one work that must be named."""
        names = self.names
        if len(names) != 1:
            raise UsageError("name one work", remedy=f"such as: {self.arguments.command} NAME --consumer CONSUMER")
        return names[0]


async def require_consumer(client: MaestroClient, name: str) -> Works:
    """The works of a management cluster that Maestro knows. Raises UnknownConsumer."""
    with remedy_of_unknown(name):
        await client.consumers.get(name)
    return client.works(name)


@contextmanager
def remedy_of_unknown(consumer: str) -> Iterator[None]:
    """The client's own remedy names a setting of the control plane adapter."""
    try:
        yield
    except UnknownConsumer as error:
        remedy = f"see `maestro-cli consumer list`, or register it with `maestro-cli consumer ensure {consumer}`"
        raise UnknownConsumer(error.what, why=error.why, remedy=remedy) from None
