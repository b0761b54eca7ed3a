"""What to do about one resource: what is wanted and what was observed go in, one plan comes out. Nothing is asked here.

    observed                              wanted                       plan
    ------------------------------------  ---------------------------  ----------------------------------------
    anything                              this run only observes       Skip
    nothing                               creation not allowed         Skip, as a skip of the run
    nothing                               to be deleted                Delete, of nothing
    an object                             to be deleted                Delete, asked for once
    the same generation                   the same                     Skip; Update if unstamped or drifted
    a newer generation, also elsewhere    an older one                 Refuse
    older generations                     to supersede them            Supersede: delete them, then decide again
    older generations, on their way out   to supersede them            Wait until they are gone
    nothing, or an older one elsewhere    the current generation       Create
    an older one, on its way out          the current generation       Wait until it is gone
    an older generation                   the current generation       Update, or Recreate where asked for

The first row that fits decides.
"""

from dataclasses import dataclass

from dispatcher.engine.ports import Object
from dispatcher.engine.resources.stamping import deletion_time, generation_of, is_stamped, name_of, namespace_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the configuration asks of a resource in this run. `name` and `namespace` are the rendered manifest's."""

    name: str = ""
    namespace: str = ""
    generation: int = 0
    deleted: bool = False
    creatable: bool = True
    recreate_on_change: bool = False
    supersede: bool = False
    observe_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """`found` is what the discovery selects; `kin` are all generations of it, listed where they are superseded."""

    found: Object | None = None
    kin: tuple[Object, ...] = ()
    drifted: bool = False


@dataclass(frozen=True, slots=True)
class Create:
    reason: str


@dataclass(frozen=True, slots=True)
class Update:
    found: Object
    reason: str


@dataclass(frozen=True, slots=True)
class Recreate:
    found: Object
    reason: str


@dataclass(frozen=True, slots=True)
class Skip:
    """`gated` where the author's `lifecycle.create` does not allow the creation."""

    reason: str
    gated: bool = False


@dataclass(frozen=True, slots=True)
class Delete:
    """`found` is None where there is nothing left; `asked` where its deletion is already under way."""

    found: Object | None
    reason: str
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Supersede:
    older: tuple[Object, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Wait:
    blocking: tuple[Object, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Refuse:
    reason: str


Plan = Create | Update | Recreate | Skip | Delete | Supersede | Wait | Refuse


def decide(wanted: Wanted, observed: Observed) -> Plan:
    if wanted.observe_only:
        return Skip("this run only observes")
    if observed.found is None and not wanted.creatable:
        return Skip("lifecycle.create.when condition evaluated to false", gated=True)
    if wanted.deleted:
        return _deletion(observed.found)
    if observed.found is not None and generation_of(observed.found) == wanted.generation:
        return _same_generation(wanted, observed.found, drifted=observed.drifted)
    newest = max((*_present(observed.found), *observed.kin), key=generation_of, default=None)
    if newest is not None and 0 < wanted.generation < generation_of(newest):
        return Refuse(f"{_named(newest)} is of generation {generation_of(newest)}, newer than {wanted.generation}")
    if wanted.supersede:
        return _succession(wanted, observed)
    return _older_generation(wanted, observed.found)


def _deletion(found: Object | None) -> Delete:
    if found is None:
        return Delete(None, "resource already deleted or never existed")
    if deletion_time(found):
        return Delete(found, "its deletion is under way", asked=True)
    return Delete(found, "lifecycle.delete.when evaluated to true")


def _same_generation(wanted: Wanted, found: Object, *, drifted: bool) -> Plan:
    if not drifted and is_stamped(found):
        return Skip(f"generation {wanted.generation} unchanged")
    if deletion_time(found):
        return Skip(f"generation {wanted.generation} unchanged, and on its way out")
    if not drifted:
        return Update(found, "stamped with the adapter and the event")
    reason = f"generation {wanted.generation} has drifted"
    return Recreate(found, reason) if wanted.recreate_on_change else Update(found, reason)


def _succession(wanted: Wanted, observed: Observed) -> Plan:
    others = (*_present(observed.found), *observed.kin)
    older = {_identity(each): each for each in others if generation_of(each) != wanted.generation}
    if not older:
        return Create("resource not found")
    generations = sorted({generation_of(each) for each in older.values()})
    reason = f"generation {wanted.generation} supersedes {', '.join(map(str, generations))}"
    remaining = tuple(each for each in older.values() if not deletion_time(each))
    if remaining:
        return Supersede(remaining, reason)
    return Wait(tuple(older.values()), f"{reason}, which is not yet gone")


def _older_generation(wanted: Wanted, found: Object | None) -> Plan:
    if found is None:
        return Create("resource not found")
    if (name_of(found), namespace_of(found)) != (wanted.name, wanted.namespace or namespace_of(found)):
        return Create(f"{_named(found)} is of generation {generation_of(found)}")
    reason = f"generation changed {generation_of(found)}->{wanted.generation}"
    if deletion_time(found):
        return Wait((found,), f"{reason}, and the former one is not yet gone")
    return Recreate(found, reason) if wanted.recreate_on_change else Update(found, reason)


def _present(found: Object | None) -> tuple[Object, ...]:
    return () if found is None else (found,)


def _identity(found: Object) -> tuple[str, str]:
    return namespace_of(found), name_of(found)


def _named(found: Object) -> str:
    return f"{found.get('kind', 'the object')} {name_of(found)}"
