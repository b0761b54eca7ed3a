"""Phase 3 as a whole: which resources are touched, in which order, and what an error stops.

An error while applying ends the phase; errors of deletions are gathered, so that each deletion is tried. A lifecycle
condition that cannot be evaluated is an error, never a "no": nothing is created or deleted on a guess. Where any
resource has such conditions, all resources are observed before the first is touched, nested ones too.
"""

from dispatcher.config.compiled import Resource
from dispatcher.engine.ports import ANY_NAMESPACE, Object
from dispatcher.engine.resources.acting import Actor, Outcome
from dispatcher.engine.resources.deciding import Wanted
from dispatcher.engine.resources.observing import Target, find, locate
from dispatcher.engine.resources.publishing import Publisher
from dispatcher.engine.resources.stamping import (
    event_annotation,
    generation_of,
    managed_by,
    name_of,
    namespace_of,
    stamp,
)
from dispatcher.engine.running import Failure, Run
from dispatcher.engine.runs import Operation, Phase, ResourceRecord
from shared.languages.errors import LanguageError


class ResourcesPhase:
    def __init__(self, run: Run) -> None:
        self.records: list[ResourceRecord] = []
        self._run = run
        self._publisher = Publisher(run)
        self._label = managed_by(run.adapter.name)
        self._annotation = event_annotation(run.request.event.data)
        self._delivered = {each.resource: each.object for each in run.request.delivered}
        self._observed: dict[str, tuple[Target, Object | None]] = {}
        self._manifests: dict[str, Object] = {}

    async def execute(self) -> None:
        run = self._run
        if not run.adapter.resources:
            return
        run.observed_at = max((each.at for each in run.request.delivered), default=run.ports.clock.now())
        if not await self._observe_where_lifecycles_ask():
            return
        for resource in run.adapter.resources:
            if not await self._process(resource):
                return

    async def _observe_where_lifecycles_ask(self) -> bool:
        """Whether all could be observed. Without lifecycle conditions each is observed when its turn comes."""
        resources = self._run.adapter.resources
        if all(each.create_when is None and each.delete_when is None for each in resources):
            return True
        for resource in resources:
            try:
                target = locate(self._run, resource, self._manifest_for_its_namespace(resource))
                found = await self._find(resource, target)
                self._publisher.publish(resource, found)
            except Failure as error:
                self._fail(resource, error)
                return False
            self._observed[resource.name] = target, found
        return True

    async def _process(self, resource: Resource) -> bool:
        """Whether the next resource has its turn."""
        started = self._run.ports.clock.monotonic()
        try:
            creatable = self._is_creatable(resource)
        except LanguageError as error:
            self._fail(resource, error, what="lifecycle.create.when cannot be evaluated")
            return False
        try:
            deleting = resource.delete_when is not None and self._run.matches(resource.delete_when)
        except LanguageError as error:
            self._fail(resource, error, what="lifecycle.delete.when cannot be evaluated")
            return True
        try:
            outcome, target = await self._settle(resource, creatable=creatable, deleting=deleting)
            self._publisher.publish(resource, outcome.object)
        except Failure as error:
            self._fail(resource, error, deleting=deleting, seconds=self._run.ports.clock.monotonic() - started)
            return deleting
        self._record(resource, target, outcome, self._run.ports.clock.monotonic() - started)
        return self._goes_on(resource, outcome)

    def _is_creatable(self, resource: Resource) -> bool:
        if resource.create_when is None or self._observed[resource.name][1] is not None:
            return True
        return self._run.matches(resource.create_when)

    async def _settle(self, resource: Resource, *, creatable: bool, deleting: bool) -> tuple[Outcome, Target]:
        run = self._run
        manifest = None if deleting or not creatable else self._manifest(resource)
        if resource.name in self._observed:
            target, found = self._observed[resource.name]
        else:
            target = locate(run, resource, manifest)
            found = await self._find(resource, target)
            self._observed[resource.name] = target, found
        wanted = Wanted(
            name=name_of(manifest) if manifest else "",
            namespace=namespace_of(manifest) if manifest else "",
            generation=generation_of(manifest) if manifest else 0,
            deleted=deleting,
            creatable=creatable,
            recreate_on_change=resource.recreate_on_change,
            supersede=resource.supersedes_lower_generations,
            observe_only=not run.request.writes,
        )
        found = found or self._last_seen(resource, wanted)
        self._ignore_other_generations(resource, wanted)
        self._ignore_what_is_gone(resource, wanted, found)
        return await Actor(run, resource, target, wanted, manifest).settle(found), target

    async def _find(self, resource: Resource, target: Target) -> Object | None:
        delivered = self._delivered.get(resource.name)
        return await find(target) if delivered is None else delivered

    def _last_seen(self, resource: Resource, wanted: Wanted) -> Object | None:
        """How it was before its TTL removed it, where this run may not make it again."""
        last = self._run.request.last_seen.get(resource.name)
        if last is None or self._run.request.writes or wanted.deleted or generation_of(last) != wanted.generation:
            return None
        return last

    def _manifest(self, resource: Resource) -> Object:
        """Rendered and stamped, once in a run."""
        manifest = self._manifests.get(resource.name)
        if manifest is None:
            run = self._run
            manifest = resource.manifest.render(run.variables.template, clock=run.ports.clock.now)
            stamp(manifest, label=self._label, annotation=self._annotation)
            self._manifests[resource.name] = manifest
        return manifest

    def _manifest_for_its_namespace(self, resource: Resource) -> Object | None:
        """A resource to be deleted may have a manifest that can no longer be rendered."""
        if resource.discovery.namespace is not None or resource.target_cluster is not None:
            return None
        try:
            return self._manifest(resource)
        except Failure:
            return None

    def _ignore_other_generations(self, resource: Resource, wanted: Wanted) -> None:
        delivered = self._delivered.get(resource.name)
        if delivered is None or wanted.generation in (0, generation_of(delivered)):
            return
        reason = f"{resource.name} was delivered at generation {generation_of(delivered)}, not {wanted.generation}"
        self._run.withhold = self._run.withhold or reason
        self._run.skip(reason)

    def _ignore_what_is_gone(self, resource: Resource, wanted: Wanted, found: Object | None) -> None:
        """A Job that its TTL has removed says nothing; what it reported before stays."""
        run = self._run
        if run.request.writes or not resource.watch or not wanted.creatable or found is not None:
            return
        if run.request.observe_only:
            run.withhold = run.withhold or f"{resource.name} is gone, and this run only observes"
        elif resource.manifest.kind == "Job" and not wanted.deleted:
            run.missing_job = run.missing_job or resource.name

    def _goes_on(self, resource: Resource, outcome: Outcome) -> bool:
        run = self._run
        if outcome.gated or outcome.operation in (Operation.WAIT, Operation.REFUSE):
            run.skip(f"{resource.name}: {outcome.reason}")
        if outcome.operation is Operation.REFUSE:
            run.withhold = run.withhold or f"{resource.name}: {outcome.reason}"
        return outcome.operation not in (Operation.WAIT, Operation.REFUSE)

    def _record(self, resource: Resource, target: Target, outcome: Outcome, seconds: float) -> None:
        manifest = self._manifests.get(resource.name)
        shown = outcome.object or outcome.deleted or manifest or {}
        self.records.append(
            ResourceRecord(
                name=resource.name,
                kind=resource.manifest.kind,
                namespace=namespace_of(shown) or target.query.namespace.removeprefix(ANY_NAMESPACE),
                object_name=name_of(shown) or target.query.name,
                operation=outcome.operation,
                reason=outcome.reason,
                manifest=manifest,
                deleted=outcome.deleted,
                seconds=seconds,
            )
        )

    def _fail(
        self,
        resource: Resource,
        error: BaseException,
        *,
        what: str = "",
        deleting: bool = False,
        seconds: float = 0.0,
    ) -> None:
        message = self._run.fail(Phase.RESOURCES, resource.name, error, what=what)
        manifest = self._manifests.get(resource.name)
        _, found = self._observed.get(resource.name, (None, None))
        if found is not None:
            self._run.variables.resources.setdefault(resource.name, found)
        self.records.append(
            ResourceRecord(
                name=resource.name,
                kind=resource.manifest.kind,
                namespace=namespace_of(manifest) if manifest else "",
                object_name=name_of(manifest) if manifest else "",
                error=message,
                manifest=manifest,
                deleted=found if deleting else None,
                seconds=seconds,
            )
        )
