"""`resources.*` as authors see it: each object under its resource's name, and manifests of works under their own."""

from dispatcher.config.compiled import NestedDiscovery, Resource
from dispatcher.engine.ports import Object
from dispatcher.engine.resources.nested import find_nested
from dispatcher.engine.resources.observing import select
from dispatcher.engine.running import Run
from shared.errors import Invalid
from shared.languages.errors import LanguageError


class Publisher:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._owners = {resource.name: resource.name for resource in run.adapter.resources}

    def publish(self, resource: Resource, found: Object | None) -> None:
        """An object that is gone is absent, and so are the manifests in it."""
        resources = self._run.variables.resources
        for name in (resource.name, *(nested.name for nested in resource.nested)):
            if self._owners.get(name) == resource.name:
                resources.pop(name, None)
        if found is None:
            return
        resources[resource.name] = found
        for nested in resource.nested:
            owner = self._owners.setdefault(nested.name, resource.name)
            if nested.name == resource.name:
                self._run.warn(f"nested discovery {nested.name!r} has the name of its own resource and is left out")
            elif owner != resource.name or nested.name in resources:
                raise Invalid(f"nested discovery {nested.name!r} takes a name that is already used under resources")
            else:
                self._publish_nested(nested, found)

    def _publish_nested(self, nested: NestedDiscovery, work: Object) -> None:
        try:
            manifest = find_nested(work, select(self._run, nested.discovery))
        except LanguageError as error:
            self._run.warn(f"nested discovery {nested.name!r} is left out: {self._run.text_of(error)}")
            return
        if manifest is not None:
            self._run.variables.resources[nested.name] = manifest
