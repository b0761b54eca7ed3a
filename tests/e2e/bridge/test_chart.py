"""The chart: accepted by Helm and a real API server, and its rights are enough for the operator and no more."""

import asyncio
import re
import ssl
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

import httpx
import pytest
import yaml

from dpu_bridge import settings
from dpu_bridge.api.kinds import CERTIFICATES, HYPERSHIFT
from dpu_bridge.operator.metrics import Metrics
from dpu_bridge.plan import PlanSettings
from lab.kubeconfig import kubeconfig
from lab.real.artifacts.helm import Helm
from shared.errors import Forbidden, HyperFleetError
from shared.kubernetes import KubernetesClient, Object, ObjectRef, Selection, access_source
from tests.e2e.bridge.conftest import Clusters, operating
from tests.support.bridge_lab import METALLB_NAMESPACE, OPERATOR_NAMESPACE, BridgeLab, has
from tests.support.bridges import IMAGES

ROOT = Path(__file__).parents[3]
CHART, PAGE = ROOT / "charts" / "dpu-hcp-bridge", ROOT / "docs" / "dpu-bridge.md"
NOT_SERVED = ("ServiceMonitor", "PrometheusRule")
DEADLINE = 400.0
ADMISSION = "admissionregistration.k8s.io/v1"
MINIMAL: dict[str, Any] = {"image": {"repository": "example/dpu-hcp-bridge"}}
VALUE_SETS: dict[str, dict[str, Any]] = {
    "the least that can be": {},
    "images, files and namespaces": {
        "blueFieldImages": {"images": {"4.22.0": "example/bluefield:4.22.0"}},
        "files": {"secretName": "files"},
        "namespaces": ["clusters", "dpf"],
    },
    "without a webhook": {"webhook": {"enabled": False}},
    "watched and closed to the network": {
        "monitoring": {
            "serviceMonitor": {"enabled": True},
            "prometheusRule": {"enabled": True, "runbookBaseUrl": "https://example.com/runbooks"},
        },
        "networkPolicy": {"enabled": True, "metricsFrom": [{"namespaceSelector": {}}]},
    },
}


@pytest.fixture(scope="module")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    return Helm(tmp_path_factory.mktemp("helm"))


def values(folder: Path, changes: dict[str, Any]) -> Path:
    path = folder / "values.yaml"
    path.write_text(yaml.safe_dump({**MINIMAL, **changes}))
    return path


def rendered(helm: Helm, folder: Path, changes: dict[str, Any]) -> list[Object]:
    text = helm.render(CHART, "--namespace", OPERATOR_NAMESPACE, "-f", values(folder, changes))
    return [each for each in yaml.safe_load_all(text) if each]


def test_it_passes_helms_own_check(helm: Helm, tmp_path: Path) -> None:
    outcome = helm.run("lint", "--strict", CHART, "-f", values(tmp_path, {}))
    assert outcome.returncode == 0, outcome.stdout


@pytest.mark.parametrize("name", VALUE_SETS)
async def test_what_it_renders_is_accepted_by_an_api_server(
    helm: Helm, lab: BridgeLab, tmp_path: Path, name: str
) -> None:
    for namespace in ("clusters", "dpf"):
        await lab.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    for each in rendered(helm, tmp_path, VALUE_SETS[name]):
        if each["kind"] not in NOT_SERVED:
            await lab.client.apply(each, manager="helm", dry_run=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"image": {}}, "image.repository is required", id="no image"),
        pytest.param({"replicas": 2}, "replicas", id="an unknown key"),
        pytest.param({"webhook": {"failurePolicy": "Maybe"}}, "failurePolicy", id="a value that is not allowed"),
        pytest.param({"settings": {"cleanupTimeout": "soon"}}, "cleanupTimeout", id="no duration"),
        pytest.param({"blueFieldImages": {"images": {"4.22.0": 1}}}, "4.22.0", id="no image of a version"),
        pytest.param({"monitoring": {"serviceMonitor": True}}, "serviceMonitor", id="a value instead of an object"),
    ],
)
def test_a_mistake_in_the_values_is_named(helm: Helm, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CalledProcessError) as refused:
        rendered(helm, tmp_path, changes)
    assert message in refused.value.stderr


def test_the_definition_is_kept_when_the_chart_is_removed(helm: Helm, tmp_path: Path) -> None:
    [definition] = [each for each in rendered(helm, tmp_path, {}) if each["kind"] == "CustomResourceDefinition"]
    assert definition["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"


def test_each_alert_asks_for_metrics_that_there_are_and_has_a_runbook(helm: Helm, tmp_path: Path) -> None:
    chosen = VALUE_SETS["watched and closed to the network"]
    [group] = [each for each in rendered(helm, tmp_path, chosen) if each["kind"] == "PrometheusRule"]
    rules = group["spec"]["groups"][0]["rules"]
    operator = Metrics()
    operator.set_phase(("clusters", "dpu"), "Failed")
    operator.approvers.labels("clusters", "dpu").set(0)
    operator.requests.labels("clusters", "dpu", "deny", "WrongUser").inc()
    operator.passes.labels("failed").inc()
    exposed = {sample.name: sample.labels for family in operator.registry.collect() for sample in family.samples}
    headings = {f"#{line[4:].lower()}" for line in PAGE.read_text().splitlines() if line.startswith("### ")}
    for rule in rules:
        [(metric, selector)] = re.findall(r"(dpu_bridge_\w+)(?:\{(.*?)\})?", rule["expr"])
        assert metric in exposed
        assert set(re.findall(r"(\w+)=", selector)) <= exposed[metric].keys()
        assert set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])) <= exposed[metric].keys()
        assert rule["annotations"]["runbook_url"].removeprefix("https://example.com/runbooks") in headings


def test_the_network_policy_opens_what_is_served_and_nothing_else(helm: Helm, tmp_path: Path) -> None:
    documents = rendered(helm, tmp_path, VALUE_SETS["watched and closed to the network"])
    [policy] = [each for each in documents if each["kind"] == "NetworkPolicy"]
    [deployment] = [each for each in documents if each["kind"] == "Deployment"]
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    opened = {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]}
    # The kubelet's probes reach a pod past any policy.
    assert opened == {port["name"] for port in container["ports"]} - {"health"}
    assert policy["spec"]["podSelector"] == deployment["spec"]["selector"]


async def test_its_rights_are_enough_for_the_operator_and_no_more(
    clusters: Clusters, helm: Helm, lab: BridgeLab, tmp_path: Path
) -> None:
    chosen = {"namespaces": [lab.namespace, lab.dpf], "webhook": {"enabled": False}}
    chosen["blueFieldImages"] = {"images": IMAGES}
    for each in rendered(helm, tmp_path, chosen):
        if each["kind"] in ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"):
            await lab.client.apply(each, manager="helm")
    config = tmp_path / "kubeconfig"
    config.write_text(await account_kubeconfig(clusters, lab))
    limited = settings.Settings(
        kubeconfig=str(config),
        namespace=OPERATOR_NAMESPACE,
        namespaces=(lab.namespace, lab.dpf),
        files=tmp_path,
        planning=PlanSettings(metallb_namespace=METALLB_NAMESPACE, images_namespace=OPERATOR_NAMESPACE),
    )
    async with asyncio.timeout(DEADLINE):
        async with operating(limited):
            await lab.create_dpu_cluster()
            await lab.create_bridge()
            await lab.until(lab.bridge(), has("Ready"))
            await lab.client.delete(lab.bridge())
            await lab.until_gone(lab.bridge())
        async with KubernetesClient(access_source(str(config))) as account:
            for denied in (
                account.list(Selection(api_version="v1", kind="Secret")),
                account.list(Selection(api_version="v1", kind="Secret", namespace=OPERATOR_NAMESPACE)),
                account.get(ObjectRef(api_version="v1", kind="Secret", namespace=METALLB_NAMESPACE, name="x")),
                account.list(Selection(api_version="v1", kind="ConfigMap", namespace=OPERATOR_NAMESPACE)),
                account.list(Selection(api_version=HYPERSHIFT, kind="HostedCluster")),
                account.get(ObjectRef(api_version=HYPERSHIFT, kind="HostedCluster", namespace="clusters", name="x")),
                account.list(Selection(api_version=CERTIFICATES, kind="CertificateSigningRequest")),
                account.list(Selection(api_version=ADMISSION, kind="ValidatingWebhookConfiguration")),
                account.delete(lab.dpu_cluster()),
                account.delete(lab.bridge()),
            ):
                with pytest.raises(HyperFleetError) as refused:
                    await denied
                assert isinstance(refused.value, Forbidden)


async def account_kubeconfig(clusters: Clusters, lab: BridgeLab) -> str:
    """The operator's service account, with a token of the API server."""
    account = ObjectRef(
        api_version="v1", kind="ServiceAccount", namespace=OPERATOR_NAMESPACE, name="release-dpu-hcp-bridge"
    )
    token = await token_of(clusters, account)
    return kubeconfig(clusters.management.url, token, clusters.management.ca_file)


async def token_of(clusters: Clusters, account: ObjectRef) -> str:
    server = clusters.management
    trust = ssl.create_default_context(cafile=str(server.ca_file))
    headers = {"Authorization": f"Bearer {server.admin_token}"}
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": None}}
    async with httpx.AsyncClient(base_url=server.url, verify=trust, headers=headers, timeout=DEADLINE) as http:
        path = f"/api/v1/namespaces/{account.namespace}/serviceaccounts/{account.name}/token"
        answer = await http.post(path, json=request)
        assert answer.is_success, answer.text
        return str(answer.json()["status"]["token"])
