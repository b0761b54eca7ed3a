"""The least rights of a task config: by namespace where it is known, in the whole cluster where it is not."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from dispatcher.cli.main import main
from dispatcher.config.loading import load
from dispatcher.rights.needed import needed_rules
from dispatcher.rights.plurals import plural_of

ADAPTER = {"adapter": {"name": "a"}, "clients": {"hyperfleet_api": {"base_url": "http://api"}}}
ROOT = Path(__file__).parents[3]


def resource(name: str, api_version: str, kind: str, *, namespace: str = "", **more: Any) -> dict[str, Any]:
    metadata = {"name": "x", "annotations": {"hyperfleet.io/generation": "1"}}
    discovery = {"by_name": "x"} | ({"namespace": namespace} if namespace else {})
    manifest = {"apiVersion": api_version, "kind": kind, "metadata": metadata}
    return {"name": name, "manifest": manifest, "discovery": discovery, **more}


def rules_of(folder: Path, task: dict[str, Any]) -> Any:
    (folder / "adapter.yaml").write_text(yaml.safe_dump(ADAPTER))
    (folder / "task.yaml").write_text(yaml.safe_dump(task))
    return needed_rules(load(folder / "adapter.yaml", folder / "task.yaml", environment={}).adapter)


def test_a_resource_in_a_known_namespace_needs_a_role_there(tmp_path: Path) -> None:
    task = {"resources": [resource("job", "batch/v1", "Job", namespace="jobs", recreate_on_change=True)]}
    verbs = ["create", "delete", "get", "list", "patch", "watch"]
    assert rules_of(tmp_path, task) == {"jobs": [{"apiGroups": ["batch"], "resources": ["jobs"], "verbs": verbs}]}


def test_what_is_never_deleted_needs_no_right_to_delete(tmp_path: Path) -> None:
    (rule,) = rules_of(tmp_path, {"resources": [resource("c", "v1", "ConfigMap", namespace="n")]})["n"]
    assert "delete" not in rule["verbs"]


@pytest.mark.parametrize("namespace", ["", "*", "{{ .event.id }}"])
def test_an_unknown_namespace_or_none_needs_a_cluster_role(tmp_path: Path, namespace: str) -> None:
    found = rules_of(tmp_path, {"resources": [resource("n", "v1", "ConfigMap", namespace=namespace)]})
    assert list(found) == [""]


def test_a_secret_of_a_param_may_be_read_by_its_name_only(tmp_path: Path) -> None:
    (rule,) = rules_of(tmp_path, {"params": [{"name": "token", "source": "secret.n.my-secret.key"}]})["n"]
    assert (rule["resources"], rule["resourceNames"]) == (["secrets"], ["my-secret"])
    assert rule["verbs"] == ["get", "list", "watch"]


def test_works_of_maestro_need_no_kubernetes_rights() -> None:
    folder = ROOT / "jobs" / "nodepool"
    loaded = load(
        folder / "nodepool-adapter-config.yaml",
        folder / "nodepool-task-config.yaml",
        environment={"MANAGEMENT_CLUSTER_CONSUMER": "m"},
    )
    assert needed_rules(loaded.adapter) == {}


def test_the_charts_example_grants_what_the_shipped_adapter_needs(capsys: pytest.CaptureFixture[str]) -> None:
    folder = ROOT / "jobs" / "controlplane"
    files = ["-c", str(folder / "hypershift-controlplane-adapter-config.yaml")]
    files += ["-t", str(folder / "hypershift-controlplane-task-config.yaml")]
    assert main(["rbac", *files, "-o", "values"]) == 0
    needed = yaml.safe_load(capsys.readouterr().out)["rbac"]
    example = yaml.safe_load((ROOT / "charts" / "hyperfleet-adapter" / "examples" / "rabbitmq.yaml").read_text())
    assert needed["namespaces"] == example["rbac"]["namespaces"]
    assert needed["clusterRules"] == []


@pytest.mark.parametrize(
    ("kind", "plural"),
    [("Job", "jobs"), ("NetworkPolicy", "networkpolicies"), ("Ingress", "ingresses"), ("Gateway", "gateways")],
)
def test_kinds_have_the_plural_that_the_api_server_uses(kind: str, plural: str) -> None:
    assert plural_of(kind) == plural
