"""The adapter's chart, rendered by Helm, accepted by a real API server, installed, upgraded and removed without a trace."""

import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

import pytest
import yaml

from lab.kubeconfig import kubeconfig
from lab.real.artifacts.helm import Helm
from tests.support.kubernetes import KubernetesServer
from tests.support.servers import real_kubernetes

__all__ = ["real_kubernetes"]

ROOT = Path(__file__).parents[3]
CHART = ROOT / "charts" / "hyperfleet-adapter"
JOBS = ROOT / "jobs" / "controlplane"
SHIPPED = [
    *("--set-file", f"adapterConfig.yaml={JOBS / 'hypershift-controlplane-adapter-config.yaml'}"),
    *("--set-file", f"adapterTaskConfig.yaml={JOBS / 'hypershift-controlplane-task-config.yaml'}"),
    *("--set-file", f"adapterTaskConfig.files.job\\.yaml={JOBS / 'job.yaml'}"),
]
MINIMAL = {
    "image": {"repository": "example/hyperfleet-adapter"},
    "adapterConfig": {"yaml": {"adapter": {"name": "a"}}},
    "adapterTaskConfig": {"yaml": "params: []\n"},
    "broker": {"type": "embedded", "embedded": {"address": "127.0.0.1:1"}},
}
# Each is merged into MINIMAL.
VALUE_SETS: dict[str, dict[str, Any]] = {
    "the least that can be": {},
    "rabbitmq with a secret": {"broker": {"type": "rabbitmq", "rabbitmq": {"urlSecret": {"name": "s", "key": "url"}}}},
    "pubsub": {"broker": {"type": "googlepubsub", "googlepubsub": {"projectId": "p", "maxOutstandingMessages": 9}}},
    "config maps of one's own": {
        "adapterConfig": {"create": False, "configMapName": "mine"},
        "adapterTaskConfig": {"create": False, "configMapName": "mine-too"},
        "broker": {"create": False, "configMapName": "mine-as-well"},
    },
    "a token for the API": {"adapterConfig": {"hyperfleetApi": {"auth": {"enabled": True, "audience": "hyperfleet"}}}},
    "several replicas": {
        "autoscaling": {"enabled": True},
        "podDisruptionBudget": {"minAvailable": 1, "maxUnavailable": ""},
    },
    "rights and jobs": {
        "jobs": {"create": True, "namespace": "default"},
        "rbac": {
            "namespaces": {"default": [{"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get", "create"]}]},
            "clusterRules": [{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]}],
        },
    },
    "closed to the network": {
        "networkPolicy": {
            "enabled": True,
            "metricsFrom": [{"namespaceSelector": {}}],
            "egress": [{"ports": [{"port": 443, "protocol": "TCP"}]}],
        }
    },
    "traced and watched": {
        "monitoring": {
            "tracing": {"enabled": True, "endpoint": "http://otel:4317"},
            "dashboard": {"enabled": True},
            "serviceMonitor": {"enabled": True},
            "prometheusRule": {"enabled": True, "runbookBaseUrl": "https://example.com/runbooks"},
        }
    },
    "everything a pod can have": {
        "env": [{"name": "A", "value": "b"}],
        "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["maestro"]}],
        "extraVolumes": [{"name": "x", "emptyDir": {}}],
        "extraVolumeMounts": [{"name": "x", "mountPath": "/x"}],
        "nodeSelector": {"disk": "fast"},
        "tolerations": [{"operator": "Exists"}],
        "podLabels": {"team": "a"},
        "podAnnotations": {"note": "b"},
    },
    "the Go chart's switches": {
        "livenessProbe": {"enabled": True, "httpGet": {"path": "/healthz", "port": 8080}},
        "readinessProbe": {"enabled": False},
        "startupProbe": {"enabled": True, "httpGet": {"path": "/healthz", "port": 8080}},
        "minReadySeconds": 5,
        "revisionHistoryLimit": 0,
        "podDisruptionBudget": {"unhealthyPodEvictionPolicy": "AlwaysAllow"},
    },
}
# The least that refuses an unknown field: what the Prometheus operator's own CRDs say of the fields we use.
TEXT, FLAG = {"type": "string"}, {"type": "boolean"}
TEXTS = {"type": "object", "additionalProperties": TEXT}
ANY_OBJECT = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
CUSTOM: dict[str, dict[str, Any]] = {
    "ServiceMonitor": {
        "selector": ANY_OBJECT,
        "namespaceSelector": {"type": "object", "properties": {"matchNames": {"type": "array", "items": TEXT}}},
        "endpoints": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    **dict.fromkeys(("port", "path", "interval", "scrapeTimeout"), TEXT),
                    "honorLabels": FLAG,
                    "metricRelabelings": {"type": "array", "items": ANY_OBJECT},
                },
            },
        },
    },
    "PrometheusRule": {
        "groups": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": TEXT,
                    "rules": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                **dict.fromkeys(("alert", "expr", "for"), TEXT),
                                "labels": TEXTS,
                                "annotations": TEXTS,
                            },
                        },
                    },
                },
            },
        },
    },
}


def definition(kind: str) -> dict[str, Any]:
    """A CRD of our own for a kind of the Prometheus operator."""
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": CUSTOM[kind]}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.monitoring.coreos.com"},
        "spec": {
            "group": "monitoring.coreos.com",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [version],
        },
    }


@pytest.fixture(scope="module")
def prometheus_kinds(real_kubernetes: KubernetesServer) -> Iterator[None]:
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    for kind in CUSTOM:
        call(real_kubernetes, "POST", path, definition(kind))
    for kind in CUSTOM:
        until_served(real_kubernetes, kind)
    yield
    for kind in CUSTOM:
        call(real_kubernetes, "DELETE", f"{path}/{definition(kind)['metadata']['name']}")


def until_served(server: KubernetesServer, kind: str) -> None:
    """A new kind is refused for a moment, with 404 and then with 429."""
    deadline = time.monotonic() + 60
    while True:
        try:
            call(server, "GET", f"/apis/monitoring.coreos.com/v1/{kind.lower()}s")
        except AssertionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return


def merged(first: Any, second: Any) -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        return {key: merged(first.get(key), second[key]) if key in second else first[key] for key in {*first, *second}}
    return second


@pytest.fixture(scope="module")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    return Helm(tmp_path_factory.mktemp("helm"))


def values_file(folder: Path, changes: dict[str, Any]) -> Path:
    path = folder / "values.yaml"
    path.write_text(yaml.safe_dump(merged(MINIMAL, changes)))
    return path


def test_it_passes_helms_own_check(helm: Helm, tmp_path: Path) -> None:
    outcome = helm.run("lint", "--strict", CHART, "-f", values_file(tmp_path, {}))
    assert outcome.returncode == 0, outcome.stdout


@pytest.mark.parametrize("name", VALUE_SETS)
def test_what_it_renders_is_accepted_by_a_strict_api_server(
    helm: Helm, real_kubernetes: KubernetesServer, prometheus_kinds: None, tmp_path: Path, name: str
) -> None:
    rendered = helm.render(CHART, "--namespace", "default", "-f", values_file(tmp_path, VALUE_SETS[name]))
    objects = [each for each in yaml.safe_load_all(rendered) if each]
    assert {"Deployment", "Service"} <= {each["kind"] for each in objects}
    for each in objects:
        dry_run(real_kubernetes, each)


def test_a_probe_that_is_not_enabled_is_left_out(helm: Helm, tmp_path: Path) -> None:
    rendered = helm.render(CHART, "-f", values_file(tmp_path, VALUE_SETS["the Go chart's switches"]))
    (deployment,) = (each for each in yaml.safe_load_all(rendered) if each and each["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert {key for key in container if key.endswith("Probe")} == {"livenessProbe", "startupProbe"}
    assert "enabled" not in container["livenessProbe"]
    assert deployment["spec"]["revisionHistoryLimit"] == 0


def test_a_field_that_the_prometheus_operator_does_not_know_is_refused(
    helm: Helm, real_kubernetes: KubernetesServer, prometheus_kinds: None, tmp_path: Path
) -> None:
    """The kinds of our own are strict, so that the test above can fail."""
    rendered = helm.render(CHART, "-f", values_file(tmp_path, VALUE_SETS["traced and watched"]))
    (rule,) = (each for each in yaml.safe_load_all(rendered) if each and each["kind"] == "PrometheusRule")
    rule["spec"]["groups"][0]["rules"][0]["since"] = "5m"
    with pytest.raises(AssertionError, match="since"):
        dry_run(real_kubernetes, rule)


MANAGEMENT = {"component": "managementCluster"}


def test_on_a_management_cluster_it_installs_the_agents_rights_of_the_shipped_file(helm: Helm, tmp_path: Path) -> None:
    rendered = helm.render(CHART, "--set", "component=managementCluster")
    objects = [each for each in yaml.safe_load_all(rendered) if each]
    for each in objects:
        each["metadata"].pop("labels")
    shipped = list(yaml.safe_load_all((JOBS / "management-cluster.yaml").read_text()))
    assert sorted(objects, key=str) == sorted(shipped, key=str)


def test_an_agent_that_maestros_chart_made_gets_rights_for_node_pools_too(helm: Helm, tmp_path: Path) -> None:
    agent = {"create": False, "namespace": "maestro", "serviceAccount": "agent"}
    changes = {**MANAGEMENT, "managementCluster": {"resources": ["hostedclusters", "nodepools"], "agent": agent}}
    objects = [each for each in yaml.safe_load_all(helm.render(CHART, "-f", values_file(tmp_path, changes))) if each]
    subject = {"kind": "ServiceAccount", "name": "agent", "namespace": "maestro"}
    assert [each["kind"] for each in objects if each["kind"] == "ServiceAccount"] == []
    assert {str(each["subjects"]) for each in objects if "subjects" in each} == {str([subject])}
    assert ["hostedclusters", "nodepools"] in [each["rules"][0]["resources"] for each in objects if "rules" in each]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"adapterConfig": {"yaml": {"adapter": {"name": "b"}}}}, id="adapter-config.yaml"),
        pytest.param({"adapterTaskConfig": {"yaml": "params: [] # changed\n"}}, id="task-config.yaml"),
        pytest.param({"adapterTaskConfig": {"files": {"job.yaml": "kind: Job\n"}}}, id="a file beside it"),
        pytest.param({"broker": {"embedded": {"address": "127.0.0.1:2"}}}, id="broker.yaml"),
    ],
)
def test_pods_are_replaced_when_a_mounted_file_changes(helm: Helm, tmp_path: Path, changes: dict[str, Any]) -> None:
    before, after = (
        next(
            each
            for each in yaml.safe_load_all(helm.render(CHART, "-f", values_file(tmp_path, values)))
            if each and each["kind"] == "Deployment"
        )
        for values in ({}, changes)
    )
    assert checksum(before) != checksum(after)


@pytest.mark.parametrize("example", sorted((CHART / "examples").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_example_renders_with_the_shipped_adapter(helm: Helm, example: Path) -> None:
    rendered = helm.render(CHART, "-f", example, *SHIPPED)
    maps = {
        each["metadata"]["name"]: each for each in yaml.safe_load_all(rendered) if each and each["kind"] == "ConfigMap"
    }
    task = next(each for name, each in maps.items() if name.endswith("-task"))
    assert task["data"]["job.yaml"].strip() == (JOBS / "job.yaml").read_text().strip()


def test_values_of_an_older_chart_that_are_reused_remove_nothing(helm: Helm, tmp_path: Path) -> None:
    """`helm upgrade --reuse-values` brings none of the defaults that are new: `component` is one."""
    values = values_file(tmp_path, {})
    reused = helm.render(CHART, "-f", values, "--set", "component=null")
    assert reused == helm.render(CHART, "-f", values)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"image": {"repository": ""}}, "image.repository is required", id="no image"),
        pytest.param({"broker": {"type": ""}}, "broker.type is required", id="no broker"),
        pytest.param({"broker": {"type": "rabbitmq"}}, "broker.rabbitmq.urlSecret.name", id="no URL"),
        pytest.param({"replicas": 3}, "replicas", id="an unknown key"),
        pytest.param(
            {"podDisruptionBudget": {"minAvailable": 1, "maxUnavailable": 1}},
            "minAvailable or maxUnavailable",
            id="both",
        ),
    ],
)
def test_a_mistake_in_the_values_is_named(helm: Helm, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CalledProcessError) as refused:
        helm.render(CHART, "-f", values_file(tmp_path, changes))
    assert message in refused.value.stderr


@pytest.fixture
def namespace(real_kubernetes: KubernetesServer) -> Iterator[str]:
    name = "chart-test"
    document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    call(real_kubernetes, "POST", "/api/v1/namespaces", document)
    yield name
    call(real_kubernetes, "DELETE", f"/api/v1/namespaces/{name}")


def test_it_is_installed_upgraded_and_removed_without_a_trace(
    real_kubernetes: KubernetesServer, prometheus_kinds: None, namespace: str, tmp_path: Path
) -> None:
    config = tmp_path / "kubeconfig"
    config.write_text(kubeconfig(real_kubernetes.url, real_kubernetes.admin_token, real_kubernetes.ca_file))
    helm = Helm(tmp_path / "helm", config)
    everything = {
        **VALUE_SETS["several replicas"],
        **VALUE_SETS["closed to the network"],
        **VALUE_SETS["traced and watched"],
        "rbac": {"namespaces": {namespace: []}, "clusterRules": VALUE_SETS["rights and jobs"]["rbac"]["clusterRules"]},
        "jobs": {"create": True, "namespace": namespace},
    }
    common = ("--namespace", namespace, "-f", values_file(tmp_path, everything))
    installed = helm.run("install", "release", CHART, *common)
    assert installed.returncode == 0, installed.stderr
    before = deployment(real_kubernetes, namespace)
    upgraded = helm.run("upgrade", "release", CHART, *common, "--set", "broker.embedded.address=127.0.0.1:2")
    assert upgraded.returncode == 0, upgraded.stderr
    assert checksum(deployment(real_kubernetes, namespace)) != checksum(before)
    assert helm.run("uninstall", "release", "--namespace", namespace).returncode == 0
    for group, plurals in LEFT_BEHIND.items():
        for plural in plurals:
            assert call(real_kubernetes, "GET", f"/{group}/namespaces/{namespace}/{plural}")["items"] == []
    roles = call(real_kubernetes, "GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles")["items"]
    assert [each for each in roles if each["metadata"]["name"].startswith("release-")] == []


# Every kind that the chart may install, and Helm's own record of the release.
LEFT_BEHIND = {
    "api/v1": ("configmaps", "secrets", "serviceaccounts", "services", "pods"),
    "apis/apps/v1": ("deployments",),
    "apis/autoscaling/v2": ("horizontalpodautoscalers",),
    "apis/networking.k8s.io/v1": ("networkpolicies",),
    "apis/policy/v1": ("poddisruptionbudgets",),
    "apis/rbac.authorization.k8s.io/v1": ("roles", "rolebindings"),
    "apis/monitoring.coreos.com/v1": ("servicemonitors", "prometheusrules"),
}


def deployment(server: KubernetesServer, namespace: str) -> dict[str, Any]:
    (found,) = call(server, "GET", f"/apis/apps/v1/namespaces/{namespace}/deployments")["items"]
    document: dict[str, Any] = found
    return document


def checksum(found: dict[str, Any]) -> str:
    text: str = found["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
    return text


PLURALS = {"NetworkPolicy": "networkpolicies"}


def dry_run(server: KubernetesServer, document: dict[str, Any]) -> None:
    """Create it without keeping it; an unknown or wrong field is refused."""
    group = document["apiVersion"]
    base = f"/api/{group}" if "/" not in group else f"/apis/{group}"
    namespace = "" if document["kind"].startswith("Cluster") else "/namespaces/default"
    plural = PLURALS.get(document["kind"], f"{document['kind'].lower()}s")
    call(server, "POST", f"{base}{namespace}/{plural}?dryRun=All&fieldValidation=Strict", document)


def call(server: KubernetesServer, method: str, path: str, document: object = None) -> dict[str, Any]:
    request = urllib.request.Request(
        server.url + path,
        method=method,
        data=json.dumps(document).encode() if document is not None else None,
        headers={"Authorization": f"Bearer {server.admin_token}", "Content-Type": "application/json"},
    )
    context = ssl.create_default_context(cafile=str(server.ca_file))
    try:
        with urllib.request.urlopen(request, timeout=240, context=context) as response:
            found: dict[str, Any] = json.load(response)
            return found
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{method} {path}: {error.read().decode()}") from error
