"""Which program this is, as metrics and spans name it."""

import os
from dataclasses import dataclass

from shared import __version__

_PREFIXES = ("hyperfleet-adapter-", "adapter-")
_SUFFIX = "-adapter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """`component` is the adapter's configured name; `adapter_name` the same without what every adapter is called."""

    component: str
    version: str
    commit: str

    @property
    def adapter_name(self) -> str:
        name = self.component
        for prefix in _PREFIXES:
            if name.startswith(prefix):
                name = name.removeprefix(prefix)
                break
        return name.removesuffix(_SUFFIX)


def identify(component: str) -> Identity:
    commit = os.environ.get("HYPERFLEET_BUILD_COMMIT") or "unknown"
    return Identity(component=component, version=__version__, commit=commit)
