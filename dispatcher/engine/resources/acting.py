"""Carrying out a plan. What was decided on an object that has changed meanwhile is observed and decided again."""

from dataclasses import dataclass, replace
from typing import Literal

from dispatcher.config.compiled import Resource
from dispatcher.engine.ports import Object
from dispatcher.engine.resources import deciding
from dispatcher.engine.resources.deciding import Observed, Plan, Wanted, decide
from dispatcher.engine.resources.observing import Target, find, find_kin, newest
from dispatcher.engine.resources.stamping import generation_of, keep_stamp, name_of, namespace_of, uid_of
from dispatcher.engine.running import Run
from dispatcher.engine.runs import AwaitedDeletion, Operation
from shared.errors import AlreadyExists, Conflict, Deleting, NotFound, Permanent, Transient

MAX_DECISIONS = 5
"""Somebody who changes an object faster than this is not to be overtaken."""
RECREATE_WAIT_SECONDS = 10.0
"""A recreation goes on in the same run if the former object is gone within this time."""

Policy = Literal["Background", "Foreground", "Orphan"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done, and the object as it now is; None where there is none."""

    operation: Operation
    reason: str
    object: Object | None
    deleted: Object | None = None
    gated: bool = False
    ends_run: bool = False


class Actor:
    """Brings one resource to what is wanted."""

    def __init__(self, run: Run, resource: Resource, target: Target, wanted: Wanted, manifest: Object | None) -> None:
        self._run = run
        self._resource = resource
        self._target = target
        self._wanted = wanted
        self._manifest = manifest

    async def settle(self, found: Object | None) -> Outcome:
        """`found` is what was observed; where it turns out to be out of date, it is observed again."""
        changed: Permanent | None = None
        for _ in range(MAX_DECISIONS):
            observed = await self._complete(found)
            plan = decide(self._wanted, observed)
            try:
                outcome = await self._carry_out(plan, observed)
            except AlreadyExists as error:
                changed, found = error, await self._find_by_name()
                continue
            except (Conflict, Deleting) as error:
                changed = error
            except NotFound as error:
                if not isinstance(plan, deciding.Update):
                    raise
                changed = error
            else:
                if outcome is not None:
                    return outcome
            found = await find(self._target)
        raise Transient(f"{self._resource.name} changes faster than it can be decided on", why=str(changed or ""))

    async def _find_by_name(self) -> Object | None:
        """What stands in the way of a creation, though the discovery does not select it."""
        named = replace(
            self._target.query, name=name_of(self._desired), namespace=namespace_of(self._desired), labels={}
        )
        return newest(await self._target.transport.find(named))

    async def _complete(self, found: Object | None) -> Observed:
        """What the decision needs beside the object itself: other generations, and drift."""
        wanted, manifest = self._wanted, self._manifest
        if manifest is None or wanted.deleted or wanted.observe_only:
            return Observed(found=found)
        if found is not None and generation_of(found) == wanted.generation:
            return Observed(found=found, drifted=await self._has_drifted(manifest, found))
        if wanted.supersede and (found is not None or wanted.creatable):
            return Observed(found=found, kin=await find_kin(self._run, self._target, manifest))
        return Observed(found=found)

    async def _has_drifted(self, manifest: Object, found: Object) -> bool:
        if not self._resource.repair_drift:
            return False
        keep_stamp(manifest, found)
        return await self._target.transport.differs(manifest, found, consumer=self._target.consumer)

    async def _carry_out(self, plan: Plan, observed: Observed) -> Outcome | None:
        """None where it has to be decided again."""
        match plan:
            case deciding.Create(reason):
                return await self._create(reason)
            case deciding.Update(found, reason):
                stored = await self._target.transport.update(self._desired, found, consumer=self._target.consumer)
                return Outcome(Operation.UPDATE, reason, stored)
            case deciding.Recreate(found, reason):
                return await self._recreate(found, reason)
            case deciding.Delete():
                return await self._delete(plan)
            case deciding.Supersede(older):
                for each in older:
                    await self._remove(each)
                return None
            case deciding.Wait(blocking, reason):
                self._await(*blocking)
                return Outcome(Operation.WAIT, reason, observed.found, ends_run=True)
            case deciding.Refuse(reason):
                return Outcome(Operation.REFUSE, reason, observed.found)
            case deciding.Skip(reason, gated):
                return Outcome(Operation.SKIP, reason, observed.found, gated=gated)

    async def _create(self, reason: str) -> Outcome:
        stored = await self._target.transport.create(self._desired, consumer=self._target.consumer)
        if not self._wanted.supersede:
            return Outcome(Operation.CREATE, reason, stored)
        kin = await find_kin(self._run, self._target, self._desired)
        if any(generation_of(each) > self._wanted.generation for each in kin):
            left = await self._remove(stored)
            return Outcome(Operation.REFUSE, "a newer generation appeared while this one was created", left)
        for each in kin:
            if generation_of(each) < self._wanted.generation:
                await self._remove(each)
        return Outcome(Operation.CREATE, reason, stored)

    async def _recreate(self, found: Object, reason: str) -> Outcome:
        left = await self._remove(found)
        if left is not None and not await self._target.transport.wait_gone(
            left, timeout=RECREATE_WAIT_SECONDS, consumer=self._target.consumer
        ):
            self._await(left)
            return Outcome(Operation.WAIT, f"{reason}, and the former one is not yet gone", left, ends_run=True)
        created = await self._create(reason)
        return replace(created, operation=Operation.RECREATE) if created.operation is Operation.CREATE else created

    async def _delete(self, plan: deciding.Delete) -> Outcome:
        if plan.found is None:
            return Outcome(Operation.DELETE, plan.reason, None)
        left: Object | None = plan.found
        if not plan.asked:
            left = await self._target.transport.delete(
                plan.found, policy=self._resource.propagation_policy, consumer=self._target.consumer
            )
        if left is not None:
            self._await(left)
        return Outcome(Operation.DELETE, plan.reason, left, deleted=plan.found)

    async def _remove(self, found: Object) -> Object | None:
        """Deletes an object that another one takes the place of. The pods of a Job go first."""
        policy: Policy = "Foreground" if found.get("kind") == "Job" else "Background"
        return await self._target.transport.delete(found, policy=policy, consumer=self._target.consumer)

    def _await(self, *objects: Object) -> None:
        for each in objects:
            self._run.awaited.append(
                AwaitedDeletion(
                    resource=self._resource.name,
                    api_version=str(each.get("apiVersion") or self._target.query.api_version),
                    kind=str(each.get("kind") or self._target.query.kind),
                    namespace=namespace_of(each),
                    name=name_of(each),
                    uid=uid_of(each),
                    consumer=self._target.consumer,
                )
            )

    @property
    def _desired(self) -> Object:
        assert self._manifest is not None
        return self._manifest
