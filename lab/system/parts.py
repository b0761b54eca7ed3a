"""The parts of the lab, and which other parts each one needs."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class Part(StrEnum):
    """The value is the name on the command line."""

    API = "api"
    BROKER = "broker"
    KUBERNETES = "kubernetes"
    MAESTRO = "maestro"
    HYPERSHIFT = "hypershift"
    SENTINEL = "sentinel"
    ADAPTERS = "adapters"


ALL: Final = frozenset(Part)
MEANING: Final = {
    Part.API: "the HyperFleet API",
    Part.BROKER: "a message broker",
    Part.KUBERNETES: "an API server, with a Job runner that starts the containers as processes",
    Part.MAESTRO: "Maestro, with one registered consumer",
    Part.HYPERSHIFT: "that consumer's management cluster: Maestro's agent and the HyperShift operator",
    Part.SENTINEL: "Sentinel for clusters and node pools",
    Part.ADAPTERS: "the dispatchers of the shipped adapters, and stubs for validation, dns and pullsecret",
}
_NEEDS: Final = {
    Part.HYPERSHIFT: frozenset({Part.MAESTRO}),
    Part.SENTINEL: frozenset({Part.API, Part.BROKER}),
    Part.ADAPTERS: frozenset({Part.API, Part.BROKER, Part.KUBERNETES, Part.MAESTRO}),
}


def with_needed(chosen: Iterable[Part]) -> frozenset[Part]:
    """The chosen parts and those that they need."""
    wanted = frozenset(chosen)
    return wanted.union(*(_NEEDS.get(each, frozenset()) for each in wanted))
