"""The way to Maestro: `async with MaestroClient(settings) as client: await client.works("mgmt-01").get("w")`.

gRPC is loaded and connected by the first write or watch: a Job that finds nothing to change only reads, and most do.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from typing import TYPE_CHECKING, Self

from shared.errors import Invalid, Problem, Unavailable
from shared.maestro.config.credentials import check_files
from shared.maestro.config.settings import MaestroSettings
from shared.maestro.http.paging import pages
from shared.maestro.http.rest import Rest
from shared.maestro.wire.bundles import work_of_bundle
from shared.maestro.works.identity import work_id
from shared.maestro.works.reading import BUNDLES, MAX_SEARCHED_LABELS, LabelSelector
from shared.maestro.works.selectors import Selector
from shared.maestro.works.works import Works
from shared.model.manifestwork import ManifestWork
from shared.model.manifestwork_validation import is_label_name

if TYPE_CHECKING:
    from shared.maestro.consumers import Consumers
    from shared.maestro.grpc.connection import GrpcConnection
    from shared.maestro.works.feed import Feed


class MaestroClient:
    """Owns an HTTP client, a gRPC channel once something is written, and a status stream while somebody watches."""

    def __init__(self, settings: MaestroSettings) -> None:
        self._settings = settings
        self._connection: GrpcConnection | None = None

    async def __aenter__(self) -> Self:
        check_files(self._settings)
        self._rest = Rest(self._settings)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._connection is not None:
            await self._connection.close()
        await self._rest.close()

    def _grpc(self) -> "GrpcConnection":
        if self._connection is None:
            from shared.maestro.grpc.connection import GrpcConnection  # noqa: PLC0415 - see the module

            self._connection = GrpcConnection(self._settings)
        return self._connection

    @property
    def source_id(self) -> str:
        return self._settings.source_id

    @property
    def relist_interval(self) -> float:
        return self._settings.relist_interval

    @property
    def consumers(self) -> "Consumers":
        from shared.maestro.consumers import Consumers  # noqa: PLC0415 - a Job that only reads works needs none

        return Consumers(self._rest)

    async def find(self, name: str, labels: Mapping[str, str]) -> list[ManifestWork]:
        """Every work of that name or with all of these labels, whoever made it, on whichever management cluster.

        `is_ours` says which are this source's.
        """
        terms = [f"payload->'metadata'->>'name'='{name}'"] if is_label_name(name) else []
        with suppress(Invalid):  # no work can have a label that is not valid
            if labelled := Selector.of(labels).search_terms()[:MAX_SEARCHED_LABELS]:
                terms.append(f"({' and '.join(labelled)})")
        if not terms:
            return []
        search = [f"({' or '.join(terms)})"]
        async with aclosing(pages(self._rest, f"look for work {name!r}", BUNDLES, search)) as found:
            works = [work_of_bundle(bundle) async for bundle in found]
        return [work for work in works if work.name == name or work.has_labels(labels)]

    async def ping(self) -> None:
        """Return when Maestro answers by gRPC as well. Raises Unavailable, or why it refuses us."""
        async with self._grpc().stream.feed(lambda _: False) as feed:
            batch = await feed.next(self._settings.timeout)
        if not batch.relist:
            raise Unavailable(f"Maestro does not answer by gRPC at {self._settings.grpc_target}")

    async def scan(
        self, *, consumer: str = "", name: str = "", selector: LabelSelector = None
    ) -> AsyncGenerator[ManifestWork, None]:
        """Every work that Maestro has, whoever made it, page by page; `is_ours` says which are this source's."""
        chosen = Selector.of(selector)
        terms = [f"consumer_name='{consumer}'"] if consumer else []
        terms += [f"payload->'metadata'->>'name'='{name}'"] if name else []
        terms += chosen.search_terms()[:MAX_SEARCHED_LABELS]
        async with aclosing(pages(self._rest, "list works", BUNDLES, terms)) as found:
            async for bundle in found:
                work = work_of_bundle(bundle)
                if chosen.matches(work.labels):
                    yield work

    def feed(self, wants: Callable[[ManifestWork], bool]) -> "AbstractAsyncContextManager[Feed]":
        """The statuses of works on all management clusters, as the stream brings them; `relist` says when to `scan`."""
        return self._grpc().stream.feed(wants)

    def is_ours(self, work: ManifestWork) -> bool:
        """Whether this source made the work: the id follows from source, consumer and name."""
        return work.uid == work_id(self._settings.source_id, work.consumer, work.name)

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
            grpc=self._grpc,
        )
