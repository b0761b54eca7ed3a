"""The shipped permissions of the Maestro agent on a real API server: the real agent needs no others, and gets no others."""

import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from lab.real.servers.agent import RealAgent
from lab.real.servers.maestro import RealMaestro
from lab.real.servers.management import NAMESPACE, ManagementCluster
from tests.support.adapter import TIMEOUT, Adapter, Cluster, environment_for, until, until_finalized

FILE = Path(__file__).parents[3] / "jobs" / "controlplane" / "management-cluster.yaml"
OBJECTS: list[dict[str, Any]] = list(yaml.safe_load_all(FILE.read_text()))
ACCOUNT = "system:serviceaccount:maestro-agent:maestro-agent-sa"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
PATHS = {
    "ServiceAccount": "/api/v1/namespaces/{namespace}/serviceaccounts",
    "Role": RBAC + "/namespaces/{namespace}/roles",
    "RoleBinding": RBAC + "/namespaces/{namespace}/rolebindings",
    "ClusterRole": RBAC + "/clusterroles",
    "ClusterRoleBinding": RBAC + "/clusterrolebindings",
}


class RestrictedCluster(ManagementCluster):
    """A management cluster whose agent is the account of the file, by impersonation."""

    def __init__(self, folder: Path, maestro: RealMaestro, consumer: str) -> None:
        super().__init__(folder, maestro, consumer)
        config = json.loads(self.server.kubeconfig.read_text())
        for user in config["users"]:
            user["user"]["as"] = ACCOUNT
        restricted = folder / "agent.kubeconfig"
        restricted.write_text(json.dumps(config))
        self.agent = RealAgent(
            folder / "restricted",
            broker_address=f"127.0.0.1:{maestro.broker_port}",
            consumer=consumer,
            kubeconfig=restricted,
        )

    def before_the_agent(self) -> None:
        """Grant what the file grants, as an administrator applies it."""
        with self.admin() as http:
            http.post("/api/v1/namespaces", json={"metadata": {"name": "maestro-agent"}}).raise_for_status()
            for each in OBJECTS:
                path = PATHS[each["kind"]].format(namespace=each["metadata"].get("namespace"))
                http.post(path, json=each).raise_for_status()

    def admin(self, **headers: str) -> httpx.Client:
        trust = ssl.create_default_context(cafile=str(self.server.ca_file))
        token = {"Authorization": f"Bearer {self.server.admin_token}"}
        return httpx.Client(base_url=self.server.url, verify=trust, headers={**token, **headers}, timeout=TIMEOUT)

    def agents_own(self) -> httpx.Client:
        return self.admin(**{"Impersonate-User": ACCOUNT})


@pytest.fixture(scope="module")
def restricted(maestro: RealMaestro, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestrictedCluster]:
    folder = tmp_path_factory.mktemp("restricted-management")
    (folder / "restricted").mkdir()
    cluster = RestrictedCluster(folder, maestro, "mgmt-restricted")
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def adapter(maestro: RealMaestro, restricted: RestrictedCluster, tmp_path: Path) -> Adapter:
    return Adapter(tmp_path, environment_for(maestro.rest_port, maestro.grpc_port, restricted.consumer))


async def test_the_real_agent_delivers_changes_and_deletes_a_hosted_cluster_with_them(
    adapter: Adapter, restricted: RestrictedCluster
) -> None:
    cluster = Cluster(cluster_id="019466a0-8f8e-7abc-9def-00000000a001", name="restricted")
    created = await until(adapter, cluster, lambda run: "exists on" in run.message("Applied"))
    cluster.change(openshift_version="4.22.3")
    changed = await until(adapter, cluster, lambda run: "exists on" in run.message("Applied"))
    cluster.delete()
    gone = await until_finalized(adapter, cluster, restricted.agent)

    assert (created.statuses["Applied"], changed.statuses["Applied"]) == ("True", "True")
    assert gone.exit_code == 0


async def test_a_hosted_cluster_in_another_namespace_is_refused_with_the_remedy(
    adapter: Adapter, restricted: RestrictedCluster
) -> None:
    with restricted.admin() as http:
        http.post("/api/v1/namespaces", json={"metadata": {"name": "elsewhere"}}).raise_for_status()
    cluster = Cluster(cluster_id="019466a0-8f8e-7abc-9def-00000000a002", name="elsewhere")

    refused = await until(
        adapter, cluster, lambda run: run.statuses["Applied"] == "False", HOSTED_CLUSTER_NAMESPACE="elsewhere"
    )

    assert refused.reason("Applied") == "AppliedManifestWorkFailed"
    assert "forbidden" in refused.message("Applied")
    assert "allow the Maestro agent" in refused.message("Applied")


CUSTOM = "/apis/hypershift.openshift.io/v1beta1"
ALLOWED = [
    ("get", f"{CUSTOM}/namespaces/{NAMESPACE}/hostedclusters"),
    ("get", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/hostedclusters.hypershift.openshift.io"),
    ("get", "/apis/work.open-cluster-management.io/v1/appliedmanifestworks"),
]
DENIED = [
    ("get", f"{CUSTOM}/hostedclusters"),
    ("get", f"{CUSTOM}/namespaces/default/hostedclusters"),
    ("get", f"{CUSTOM}/namespaces/{NAMESPACE}/nodepools"),
    ("get", f"/api/v1/namespaces/{NAMESPACE}/secrets"),
    ("get", "/api/v1/namespaces"),
    ("get", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"),
    ("delete", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/hostedclusters.hypershift.openshift.io"),
    ("get", "/apis/rbac.authorization.k8s.io/v1/clusterroles"),
    ("delete", f"{CUSTOM}/namespaces/{NAMESPACE}/hostedclusters"),
]


@pytest.mark.parametrize(("verb", "path"), ALLOWED)
def test_the_account_may(restricted: RestrictedCluster, verb: str, path: str) -> None:
    with restricted.agents_own() as http:
        assert http.request(verb.upper(), path).status_code == 200


@pytest.mark.parametrize(("verb", "path"), DENIED)
def test_the_account_may_not(restricted: RestrictedCluster, verb: str, path: str) -> None:
    with restricted.agents_own() as http:
        assert http.request(verb.upper(), path).status_code == 403
