"""The administrator's page: its bridge and its kubectl commands, in the order of the page, with the operator running."""

import asyncio
import json
import os
import re
from pathlib import Path

import yaml

from dpu_bridge.api.kinds import DPF
from lab.real.artifacts.kubernetes import program
from tests.e2e.bridge.conftest import Clusters
from tests.support.bridge_lab import BridgeLab
from tests.support.bridges import bridge_object
from tests.support.pages import blocks

PAGE = (Path(__file__).parents[3] / "docs" / "dpu-bridge.md").read_text()
DEADLINE = 400.0
WRITTEN = "ssh-ed25519 AAAA administrator"


def commands() -> list[str]:
    texts = [text for language, text in blocks(PAGE) if language == "sh" and text.startswith("kubectl")]
    return [each for text in texts for each in re.split(r"(?<!\\)\n", text) if each]


async def run_all(folder: Path, kubeconfig: Path) -> str:
    kubectl = program("kubectl")
    environment = {"KUBECONFIG": str(kubeconfig), "PATH": f"{kubectl.parent}{os.pathsep}{os.environ['PATH']}"}
    shown = ""
    for command in commands():
        running = await asyncio.create_subprocess_shell(
            command,
            cwd=folder,
            env={**environment, "HOME": str(folder)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output = (await running.communicate())[0].decode()
        assert running.returncode == 0, f"$ {command}\n{output}"
        shown += f"$ {command}\n{output}"
    return shown


async def test_its_commands_take_a_bridge_from_nothing_to_ready_and_to_nothing(
    clusters: Clusters, lab: BridgeLab, operator: None, tmp_path: Path
) -> None:
    [bridge] = [text for language, text in blocks(PAGE) if language == "yaml"]
    spec = yaml.safe_load(bridge)["spec"]
    assert {*bridge_object()["spec"]} <= set(spec)
    (tmp_path / "bridge.yaml").write_text(bridge)
    (tmp_path / "id_rsa.pub").write_text(WRITTEN)
    (tmp_path / "pull-secret.json").write_text(json.dumps({"auths": {}}))
    named = spec["dpuClusterRef"]
    async with asyncio.timeout(DEADLINE):
        for name in ("clusters", named["namespace"]):
            await lab.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        await lab.create(
            {"apiVersion": DPF, "kind": "DPUCluster", "metadata": named, "spec": {"type": spec["clusterType"]}}
        )
        shown = await run_all(tmp_path, clusters.management.kubeconfig)
    assert "condition met" in shown
    assert "HostedClusterCleanup: nothing of the control plane is left" in shown
