"""What `apply` did to a work."""

from dataclasses import dataclass
from enum import StrEnum

from shared.model.manifestwork import ManifestWork


class Action(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What `apply` did, the work as it now is, and which parts of it had to be changed."""

    action: Action
    work: ManifestWork
    changed: tuple[str, ...] = ()
