"""What a plan consists of: writes that are safe to repeat, the status afterwards, and when to look again."""

from dataclasses import dataclass, field
from typing import Any

from shared.kubernetes import Object, ObjectRef
from shared.model.conditions import Condition

# The phase of a bridge whose control plane is being removed.
DELETING = "Deleting"


@dataclass(frozen=True, slots=True)
class Apply:
    """Server-side apply of a manifest."""

    manifest: Object

    def __str__(self) -> str:
        return f"apply {ObjectRef.of(self.manifest)}"


@dataclass(frozen=True, slots=True)
class CreateEncryptionKey:
    """Create a Secret with a new random key. One that is there already is kept."""

    manifest: Object

    def __str__(self) -> str:
        return f"create {ObjectRef.of(self.manifest)}"


@dataclass(frozen=True, slots=True)
class Patch:
    """A merge patch. It carries the resourceVersion that it was decided on."""

    ref: ObjectRef
    body: Object

    def __str__(self) -> str:
        return f"patch {self.ref}"


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete this very object, not a later one of the same name."""

    ref: ObjectRef
    uid: str

    def __str__(self) -> str:
        return f"delete {self.ref}"


Action = Apply | CreateEncryptionKey | Patch | Delete


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """An event on the bridge."""

    reason: str
    message: str
    is_warning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`conditions` have no times yet; `members` are the status's other fields. `look_again` is in seconds."""

    actions: tuple[Action, ...]
    conditions: tuple[Condition, ...]
    members: dict[str, Any] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    look_again: float | None = None
