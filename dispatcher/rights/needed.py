"""The rules a task config needs: what its resources, its watches and its params touch, and nothing else.

A namespace that is a template is not known before an event, so its rules hold in the whole cluster.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dispatcher.config.compiled import Adapter, ObjectKeySource, Resource
from dispatcher.rights.plurals import is_cluster_scoped, plural_of

CLUSTER: Final = ""
"""The key of rules that hold in the whole cluster."""

_VERBS: Final = ("create", "delete", "get", "list", "patch", "watch")
_WITHOUT_DELETION: Final = ("create", "get", "list", "patch", "watch")

Rule = dict[str, Any]


@dataclass(slots=True)
class _Needs:
    verbs: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    names: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    def rules(self) -> list[Rule]:
        found: list[Rule] = []
        for (group, plural), verbs in sorted(self.verbs.items()):
            rule: Rule = {"apiGroups": [group], "resources": [plural], "verbs": sorted(verbs)}
            if names := self.names.get((group, plural)):
                rule["resourceNames"] = sorted(names)
            found.append(rule)
        return found


def needed_rules(adapter: Adapter) -> Mapping[str, list[Rule]]:
    """Rules by namespace; those under CLUSTER need a ClusterRole."""
    needs: dict[str, _Needs] = defaultdict(_Needs)
    for resource in adapter.resources:
        if resource.transport == "kubernetes":
            _add_resource(needs, resource)
    for param in adapter.params:
        if isinstance(param.source, ObjectKeySource):
            _add_key(needs, param.source)
    return {namespace: each.rules() for namespace, each in sorted(needs.items())}


def _add_resource(needs: dict[str, _Needs], resource: Resource) -> None:
    group = resource.manifest.api_version.rpartition("/")[0]
    plural = plural_of(resource.manifest.kind)
    deletes = resource.delete_when or resource.recreate_on_change or resource.supersedes_lower_generations
    needs[_namespace(resource)].verbs[group, plural] |= set(_VERBS if deletes else _WITHOUT_DELETION)


def _namespace(resource: Resource) -> str:
    template = resource.discovery.namespace
    if is_cluster_scoped(resource.manifest.kind) or template is None or template.compiled is not None:
        return CLUSTER
    return CLUSTER if template.source == "*" else template.source


def _add_key(needs: dict[str, _Needs], source: ObjectKeySource) -> None:
    key = ("", plural_of(source.kind))
    scoped = needs[source.namespace]
    scoped.verbs[key] |= {"get", "list", "watch"}
    scoped.names[key].add(source.name)
