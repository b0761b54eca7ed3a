"""Where the parts of a running lab answer: as variables that our programs read, and as shell lines to source."""

import shlex
from collections.abc import Iterator, Mapping

from lab.system.parts import Part
from lab.system.system import CONSUMER, LabSystem


def variables(system: LabSystem) -> dict[str, str]:
    """The variables of the dispatcher, the control plane adapter, maestro-cli and kubectl."""
    return dict(_variables(system))


def _variables(system: LabSystem) -> Iterator[tuple[str, str]]:
    if Part.API in system.parts:
        yield "HYPERFLEET_API_BASE_URL", system.api.url
    if Part.BROKER in system.parts:
        yield "LAB_BROKER", system.broker.address
        yield "BROKER_CONFIG_FILE", str(system.broker_file)
    if Part.KUBERNETES in system.parts:
        yield "KUBECONFIG", str(system.kubeconfig)
        yield "HYPERFLEET_KUBERNETES_KUBE_CONFIG_PATH", str(system.kubeconfig)
    if Part.MAESTRO in system.parts:
        yield "MAESTRO_API_URL", system.maestro.rest_url
        yield "MAESTRO_GRPC_URL", system.maestro.grpc_address
        yield "MAESTRO_INSECURE", "true"
        yield "MANAGEMENT_CLUSTER_CONSUMER", CONSUMER


def shell_lines(named: Mapping[str, str]) -> str:
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in named.items())
