"""What a Sentinel is configured with. One Sentinel serves one type of resources."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentinel:
    """The defaults are the real one's. `owner_references` puts the parent into events, as node pool adapters need it.

    `selector` are labels that a resource must have; `debounce` is how long a resource that is not reconciled is left
    alone after its last report, `stale` how long one that is.
    """

    api_url: str
    topic: str
    resource_type: str = "clusters"
    poll_interval: timedelta = timedelta(seconds=5)
    debounce: timedelta = timedelta(seconds=10)
    stale: timedelta = timedelta(minutes=30)
    page_size: int = 20
    selector: Mapping[str, str] = field(default_factory=dict)
    owner_references: bool = False
    tracing: bool = True
