"""Reading the works of one consumer by REST."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from shared.errors import NotFound
from shared.maestro.http.paging import pages
from shared.maestro.http.rest import Rest
from shared.maestro.wire.bundles import work_of_bundle
from shared.maestro.wire.payloads import compact
from shared.maestro.works.ownership import Ownership
from shared.maestro.works.selectors import Selector
from shared.model.manifestwork import ManifestWork

BUNDLES = "/resource-bundles"
# Maestro parses at most ten `and`s of such a search; what is not searched for there is selected here.
MAX_SEARCHED_LABELS = 6
_EXECUTOR = "payload->'data'->'executer'"

LabelSelector = str | Mapping[str, str] | Selector | None


@dataclass(frozen=True, slots=True)
class WorkReader:
    rest: Rest
    ownership: Ownership

    async def get(self, name: str) -> ManifestWork:
        path = f"{BUNDLES}/{self.ownership.id_of(name)}"
        return work_of_bundle(await self.rest.get(self._about("get", name), path))

    async def find(self, name: str) -> ManifestWork | None:
        try:
            return await self.get(name)
        except NotFound:
            return None

    async def find_by_name(self, name: str) -> ManifestWork | None:
        """A work of that name on this consumer, whoever made it: another source's work has another id."""
        search = f"consumer_name='{self.ownership.consumer}' and payload->'metadata'->>'name'='{name}'"
        found = await self.rest.get(self._about("look for", name), BUNDLES, {"search": search, "orderBy": "id"})
        works = [work_of_bundle(bundle) for bundle in found.get("items") or ()]
        ours = [work for work in works if work.uid == self.ownership.id_of(name)]
        return next(iter(ours or works), None)

    async def scan(self, selector: LabelSelector = None) -> AsyncGenerator[ManifestWork, None]:
        """Every work of this source, page by page."""
        chosen, consumer = Selector.of(selector), self.ownership.consumer
        labels = chosen.search_terms()[:MAX_SEARCHED_LABELS]
        terms = [f"source='{self.ownership.source_id}'", f"consumer_name='{consumer}'", *labels]
        async with aclosing(pages(self.rest, f"list works on {consumer}", BUNDLES, terms)) as found:
            async for bundle in found:
                work = work_of_bundle(bundle)
                if chosen.matches(work.labels):
                    yield work

    async def has_executor(self, stored: ManifestWork, executor: Mapping[str, object]) -> bool:
        """Whether the stored work has an executor with these members; REST does not show it, but finds it."""
        search = f"id='{stored.uid}' and {_EXECUTOR}@>'{compact(executor)}'"
        what = self._about("look for the executor of", stored.name)
        found = await self.rest.get(what, BUNDLES, {"search": search, "size": "1"})
        return bool(found.get("items"))

    def _about(self, doing: str, name: str) -> str:
        return f"{doing} work {name!r} on {self.ownership.consumer}"
