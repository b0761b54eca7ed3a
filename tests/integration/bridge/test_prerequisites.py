"""Which of the operators that must be there the bridge operator finds missing at its start."""

from pathlib import Path

from dpu_bridge.operator.prerequisites import missing
from lab.dpf import definitions
from lab.kubeconfig import kubeconfig
from lab.kubernetes import LabKubernetes
from shared.kubernetes import KubernetesClient, access_source
from tests.support.bridge_lab import bridge_definition


async def test_what_is_not_installed_is_named(tmp_path: Path) -> None:
    config = tmp_path / "kubeconfig"
    async with LabKubernetes() as server:
        config.write_text(kubeconfig(server.url, server.admin_token))
        async with KubernetesClient(access_source(str(config))) as client:
            assert "this operator's CustomResourceDefinition" in await missing(client)
        for definition in (*definitions.ALL, bridge_definition()):
            server.define(definition)
        async with KubernetesClient(access_source(str(config))) as client:
            assert await missing(client) == ["MCE operator", "HyperShift operator", "ODF operator"]
