"""The MetalLB objects that give a control plane's API server its address."""

from ipaddress import ip_address

from dpu_bridge.api.bridge import Bridge
from dpu_bridge.api.kinds import METALLB
from dpu_bridge.render.ownership import owned
from shared.kubernetes import Object


def address_pool(bridge: Bridge, namespace: str) -> Object:
    """One address, for the services of this control plane only."""
    address = ip_address(bridge.virtual_ip)
    spec = {
        "addresses": [f"{address}/{address.max_prefixlen}"],
        "autoAssign": True,
        "serviceAllocation": {"namespaces": [bridge.control_plane_namespace]},
    }
    return owned(bridge, METALLB, "IPAddressPool", namespace, bridge.unique_name, spec=spec)


def advertisement(bridge: Bridge, namespace: str) -> Object:
    spec = {"ipAddressPools": [bridge.unique_name]}
    return owned(bridge, METALLB, "L2Advertisement", namespace, bridge.unique_name, spec=spec)
