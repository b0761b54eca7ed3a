"""Whether the services of a HostedCluster are published in a way that works; it can never be changed later.

The API server counts them but accepts a missing or duplicate kind, and the operator then stops silently.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from controlplane_adapter.hostedcluster.model import ABSENT, PLATFORM, PUBLIC, SERVICES, Json, value_at
from controlplane_adapter.hostedcluster.sources import ENDPOINT_ACCESS
from controlplane_adapter.hostedcluster.validation.fields import HOSTNAME, ChoiceRule
from shared.errors import Problem

PATH = "spec.services"
_MAX_SERVICES = 6
_KINDS = ChoiceRule(choices=(*SERVICES, "OIDC", "OVNSbDb"))
_STRATEGIES = ChoiceRule(choices=("Route", "LoadBalancer", "NodePort", "None", "S3"))
_BLOCKS = {"route": "Route", "loadBalancer": "LoadBalancer", "nodePort": "NodePort"}
_NAMED_WHEN_PUBLIC = ("APIServer", "OAuthServer")


def service_problems(manifest: Json) -> Iterator[Problem]:
    listed = value_at(manifest, PATH)
    if not isinstance(listed, list) or not len(SERVICES) <= len(listed) <= _MAX_SERVICES:
        yield Problem(PATH, f"must be a list of {len(SERVICES)}-{_MAX_SERVICES} services: {', '.join(SERVICES)}")
        return
    services = [each if isinstance(each, Mapping) else {} for each in listed]
    for index, service in enumerate(services):
        yield from _entry_problems(service, f"{PATH}[{index}]")
    yield from _kind_problems(services)
    yield from _hostname_problems(services)
    if value_at(manifest, "spec.platform.type") == PLATFORM:
        yield from _gcp_problems(services, public=value_at(manifest, ENDPOINT_ACCESS) == PUBLIC)


def _entry_problems(service: Json, path: str) -> Iterator[Problem]:
    strategy = value_at(service, "servicePublishingStrategy")
    kind = value_at(strategy, "type")
    if message := _KINDS.problem_with(value_at(service, "service")):
        yield Problem(f"{path}.service", message)
    if message := _STRATEGIES.problem_with(kind):
        yield Problem(f"{path}.servicePublishingStrategy.type", message)
    for block, needed in _BLOCKS.items():
        if value_at(strategy, block) is not ABSENT and kind != needed:
            yield Problem(f"{path}.servicePublishingStrategy.{block}", f"is only for strategy {needed}, not {kind!r}")
        hostname = value_at(strategy, f"{block}.hostname")
        if hostname is not ABSENT and (message := HOSTNAME.problem_with(hostname)):
            yield Problem(f"{path}.servicePublishingStrategy.{block}.hostname", message)
    if kind == "NodePort" and value_at(strategy, "nodePort") is ABSENT:
        yield Problem(f"{path}.servicePublishingStrategy.nodePort", "is required for strategy NodePort")


def _kind_problems(services: list[Json]) -> Iterator[Problem]:
    kinds = Counter(str(value_at(service, "service")) for service in services)
    for kind in SERVICES:
        if kind not in kinds:
            yield Problem(PATH, f"lacks {kind}")
    for kind, count in kinds.items():
        if count > 1:
            yield Problem(PATH, f"has {kind} {count} times")


def _hostname_problems(services: list[Json]) -> Iterator[Problem]:
    owners: dict[Any, str] = {}
    for index, service in enumerate(services):
        hostname, kind = _hostname(service), str(value_at(service, "service"))
        if isinstance(hostname, str) and (owner := owners.setdefault(hostname, kind)) != kind:
            yield Problem(f"{PATH}[{index}]", f"{kind} has the host name of {owner}: {hostname!r:.100}")


def _gcp_problems(services: list[Json], *, public: bool) -> Iterator[Problem]:
    for index, service in enumerate(services):
        kind = value_at(service, "service")
        if kind in SERVICES and value_at(service, "servicePublishingStrategy.type") != "Route":
            yield Problem(f"{PATH}[{index}].servicePublishingStrategy.type", f"must be Route for {kind} on {PLATFORM}")
        if public and kind in _NAMED_WHEN_PUBLIC and _hostname(service) is ABSENT:
            yield Problem(f"{PATH}[{index}]", f"{kind} needs a host name, and so a base domain, with {PUBLIC}")


def _hostname(service: Json) -> Any:
    strategy = value_at(service, "servicePublishingStrategy")
    names = (value_at(strategy, f"{block}.hostname") for block in ("route", "loadBalancer"))
    return next((name for name in names if name is not ABSENT), ABSENT)
