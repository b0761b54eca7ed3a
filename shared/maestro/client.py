"""The way to Maestro: `async with MaestroClient(settings) as client: await client.works("mgmt-01").get("w")`."""

from collections.abc import Mapping
from contextlib import aclosing
from typing import Self

from shared.errors import Invalid, Problem
from shared.maestro.bundles import work_of_bundle
from shared.maestro.consumers import Consumers
from shared.maestro.link import Link
from shared.maestro.paging import pages
from shared.maestro.rest import Rest
from shared.maestro.settings import MaestroSettings
from shared.maestro.stream import StatusStream
from shared.maestro.works import BUNDLES, Works
from shared.manifestwork import ManifestWork
from shared.work_rules import is_label_name


class MaestroClient:
    """Owns one gRPC channel, one HTTP client and, while somebody watches, one status stream."""

    def __init__(self, settings: MaestroSettings) -> None:
        self._settings = settings

    async def __aenter__(self) -> Self:
        self._rest = Rest(self._settings)
        self._link = Link(self._settings)
        self._stream = StatusStream(self._link, self._settings)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stream.close()
        await self._link.close()
        await self._rest.close()

    @property
    def consumers(self) -> Consumers:
        return Consumers(self._rest)

    async def locate(self, name: str) -> list[ManifestWork]:
        """Works of that name that this source has made, on whichever management cluster they are."""
        if not is_label_name(name):
            return []
        terms = [f"source='{self._settings.source_id}'", f"payload->'metadata'->>'name'='{name}'"]
        async with aclosing(pages(self._rest, f"look for work {name!r}", BUNDLES, terms)) as found:
            return [work_of_bundle(bundle) async for bundle in found]

    def works(self, consumer: str, *, owner_labels: Mapping[str, str] | None = None) -> Works:
        """The works of one management cluster; `owner_labels` instead of those of the settings."""
        if not is_label_name(consumer):
            problem = Problem(
                "consumer", f"{consumer!r:.80} must be lower-case letters, digits and '-', at most 63 long"
            )
            raise Invalid("not the name of a management cluster", [problem])
        return Works(
            consumer=consumer,
            owner_labels=self._settings.owner_labels if owner_labels is None else owner_labels,
            settings=self._settings,
            rest=self._rest,
            link=self._link,
            stream=self._stream,
        )
