"""Which works of a consumer this source may write: those with its ids and its owner labels. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from shared.errors import AlreadyExists, Deleting, Invalid, NotOwned, Problem
from shared.maestro.works.identity import work_id
from shared.model.manifestwork import ManifestWork
from shared.model.manifestwork_validation import validate


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """Whatever is written gets `labels`; a work without them, or with another source's id, is not ours."""

    source_id: str
    consumer: str
    labels: Mapping[str, str]

    def id_of(self, name: str) -> str:
        return work_id(self.source_id, self.consumer, name)

    def claim(self, work: ManifestWork) -> ManifestWork:
        """The work as it is sent, with identity and owner labels; raises Invalid where Maestro would refuse it."""
        if work.consumer and work.consumer != self.consumer:
            problem = Problem("metadata.namespace", f"is {work.consumer!r}, but the work is sent to {self.consumer!r}")
            raise Invalid(f"ManifestWork {work.name!r} is for another management cluster", [problem])
        claimed = replace(
            work,
            consumer=self.consumer,
            uid=self.id_of(work.name),
            labels={**work.labels, **self.labels},
            deleted_at=None,
        )
        validate(claimed)
        return claimed

    def refuse_foreign(self, stored: ManifestWork) -> None:
        where = f"work {stored.name!r} on {self.consumer}"
        remedy = "use another name, or adopt it if it is really yours"
        if stored.uid != self.id_of(stored.name):
            raise NotOwned(f"{where} was made by another source", why=f"its id is {stored.uid}", remedy=remedy)
        if not stored.has_labels(self.labels):
            expected = ",".join(f"{key}={value}" for key, value in self.labels.items())
            raise NotOwned(f"{where} is not ours", why=f"it lacks the labels {expected}", remedy=remedy)

    def refuse_deleting(self, stored: ManifestWork) -> None:
        if stored.deleting:
            raise Deleting(
                f"work {stored.name!r} on {self.consumer} is being deleted",
                remedy="wait until it is gone (`wait_gone`) before writing it again",
            )

    def refuse_existing(self, stored: ManifestWork) -> None:
        """Why no work of that name can be created."""
        self.refuse_foreign(stored)
        self.refuse_deleting(stored)
        raise AlreadyExists(
            f"work {stored.name!r} on {self.consumer} exists already", remedy="use apply or update to change it"
        )
