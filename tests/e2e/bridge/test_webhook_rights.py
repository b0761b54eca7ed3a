"""The webhook under the rights of the chart: enough to serve and to be trusted, and nothing of anybody else's."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpu_bridge.settings import Settings, WebhookSettings
from lab.real.artifacts.helm import Helm
from lab.real.servers.processes import free_port
from shared.errors import Forbidden, HyperFleetError
from shared.kubernetes import KubernetesClient, Object, ObjectRef, PatchType, Selection, access_source
from tests.e2e.bridge.conftest import Clusters, operating, settings
from tests.e2e.bridge.test_chart import CHART, account_kubeconfig, values
from tests.e2e.bridge.test_webhook import served, trusted, until_served
from tests.support.bridge_lab import OPERATOR_NAMESPACE, BridgeLab, has
from tests.support.bridges import IMAGES
from tests.support.connections import connections_closed

DEADLINE = 400.0
ADMISSION = "admissionregistration.k8s.io/v1"
RIGHTS = ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
CERTIFICATE = "release-dpu-hcp-bridge-webhook"


def configuration(name: str) -> ObjectRef:
    return ObjectRef(api_version=ADMISSION, kind="ValidatingWebhookConfiguration", name=name)


def secret(name: str) -> ObjectRef:
    return ObjectRef(api_version="v1", kind="Secret", namespace=OPERATOR_NAMESPACE, name=name)


OWN, OTHER = configuration(f"{OPERATOR_NAMESPACE}-release-dpu-hcp-bridge"), configuration("somebody-elses")


@dataclass(frozen=True)
class Limited:
    """The operator runs with this account; the lab is the administrator's."""

    lab: BridgeLab
    account: KubernetesClient
    port: int


@pytest.fixture
async def limited(clusters: Clusters, lab: BridgeLab, tmp_path: Path) -> AsyncIterator[Limited]:
    port = free_port()
    chosen = {"namespaces": [lab.namespace, lab.dpf], "blueFieldImages": {"images": IMAGES}}
    text = Helm(tmp_path).render(CHART, "--namespace", OPERATOR_NAMESPACE, "-f", values(tmp_path, chosen))
    for each in filter(None, yaml.safe_load_all(text)):
        if each["kind"] in RIGHTS:
            await lab.client.apply(each, manager="helm")
        elif each["kind"] == OWN.kind:
            assert each["metadata"]["name"] == OWN.name
            await lab.client.create(reachable(each, port, lab.namespace))
    await lab.client.create(reachable({"apiVersion": ADMISSION, "kind": OTHER.kind}, port, "nowhere", OTHER.name))
    await lab.create(
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "other", "namespace": OPERATOR_NAMESPACE}}
    )
    config = tmp_path / "kubeconfig"
    config.write_text(await account_kubeconfig(clusters, lab))
    webhook = WebhookSettings(port=port, names=("localhost",), secret=CERTIFICATE, configuration=OWN.name)
    usual = settings(clusters, tmp_path)
    of_account = Settings(
        kubeconfig=str(config),
        namespace=OPERATOR_NAMESPACE,
        namespaces=(lab.namespace, lab.dpf),
        files=tmp_path,
        webhook=webhook,
        planning=usual.planning,
    )
    async with operating(of_account), KubernetesClient(access_source(str(config))) as account:
        yield Limited(lab, account, port)
        for each in (OWN, OTHER):
            await lab.client.delete(each)
    await connections_closed(port)


def reachable(chart: Object, port: int, namespace: str, name: str = "") -> Object:
    """The chart's configuration, by URL instead of a Service, for the bridges of one namespace."""
    webhook: dict[str, Any] = {
        "name": "validate.dpuhcpbridges.provisioning.dpu.hcp.io",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        **next(iter(chart.get("webhooks", ())), {}),
        "clientConfig": {"url": f"https://localhost:{port}/validate"},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
    }
    return {**chart, "metadata": chart.get("metadata") or {"name": name}, "webhooks": [webhook]}


async def test_its_rights_are_enough_to_serve_to_renew_and_to_be_trusted(limited: Limited) -> None:
    lab = limited.lab
    async with asyncio.timeout(DEADLINE):
        await until_served(lab)
        with pytest.raises(HyperFleetError, match="BlueFieldContainerImageAvailable"):
            await lab.create_bridge("other", ocpReleaseImage="registry.example.com/ocp-release:4.1.1")
        first = await trusted(lab, OWN)
        assert await served(limited.port) in first

        await lab.patch(secret(CERTIFICATE), {"data": {"tls.crt": None}})
        renewed = await trusted(lab, OWN, other_than=first)
        await lab.client.delete(secret(CERTIFICATE))
        again = await trusted(lab, OWN, other_than=renewed)
        assert await served(limited.port, other_than=renewed) in again
        await lab.client.patch(
            OWN, [{"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}], type_=PatchType.JSON
        )
        assert await trusted(lab, OWN) == again

        await lab.create_dpu_cluster()
        await lab.until(lab.bridge(), has("Ready"))
        await lab.client.delete(lab.bridge())
        await lab.until_gone(lab.bridge())


async def test_nothing_but_its_own_configuration_and_certificate_is_open_to_it(limited: Limited) -> None:
    lab, account = limited.lab, limited.account
    label = {"metadata": {"labels": {"a": "b"}}}
    async with asyncio.timeout(DEADLINE):
        await until_served(lab)
        own, kept = await account.get(OWN), await account.get(secret(CERTIFICATE))
        for denied in (
            account.get(OTHER),
            account.patch(OTHER, label, type_=PatchType.MERGE),
            account.list(Selection(api_version=ADMISSION, kind=OWN.kind)),
            account.create({**own, "metadata": {"name": "another"}}),
            account.replace(own),
            account.delete(OWN),
            account.list(Selection(api_version=ADMISSION, kind="MutatingWebhookConfiguration")),
            account.get(secret("other")),
            account.replace({**kept, "metadata": {"name": "other", "namespace": OPERATOR_NAMESPACE}}),
            account.list(Selection(api_version="v1", kind="Secret", namespace=OPERATOR_NAMESPACE)),
            account.patch(secret(CERTIFICATE), label, type_=PatchType.MERGE),
            account.delete(secret(CERTIFICATE)),
        ):
            with pytest.raises(Forbidden):
                await denied
        assert "a" not in ((await lab.client.get(OTHER))["metadata"].get("labels") or {})
        await lab.client.delete(lab.bridge())
        await lab.until_gone(lab.bridge())
