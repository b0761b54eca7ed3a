"""What an author's expressions and templates can name, at this point of the run.

Both languages see params, captures, responses of preconditions, `config`, `env` and `event`. CEL also sees `resources`,
and its `adapter` is the run's metadata; in templates `adapter` is the adapter's name and version. Params cannot take
these names. A run never changes a value that it was given, so values are shared, not copied.
"""

from collections.abc import Mapping
from typing import Any

from dispatcher.config.compiled import Adapter
from dispatcher.engine.ports import Object

_IN_BOTH = frozenset({"adapter", "config", "env", "event"})


class Variables:
    __slots__ = ("cel", "names", "resources", "template")

    def __init__(
        self, adapter: Adapter, event: Mapping[str, Any], environment: Mapping[str, str], metadata: Mapping[str, Any]
    ) -> None:
        common = {"config": adapter.redacted_config, "env": environment, "event": event}
        self.resources: dict[str, Object] = {}
        self.names: set[str] = set()
        """What the run itself has set."""
        self.template: dict[str, Any] = {**common, "adapter": {"name": adapter.name, "version": adapter.version}}
        self.cel: dict[str, Any] = {**common, "adapter": metadata, "resources": self.resources}

    def set(self, name: str, value: Any) -> None:
        if name in _IN_BOTH:
            return
        self.names.add(name)
        self.template[name] = value
        if name != "resources":
            self.cel[name] = value

    def remove(self, name: str) -> None:
        """A param defined twice, whose later definition gives nothing, is not there."""
        if name in self.names:
            self.names.discard(name)
            del self.template[name]
            if name != "resources":
                del self.cel[name]
