"""The Job of the control plane adapter agrees with the programs that run in it, and with what its page says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from controlplane_adapter import settings
from controlplane_adapter.exits import Exit
from shared.languages.gotemplate import compile_structure
from shared.model.manifestwork_validation import MAX_LABEL
from status_reporter import settings as reporter_settings

FOLDER = Path(__file__).parents[3] / "jobs" / "controlplane"
CLUSTER_ID = "019466a0-8f8e-7abc-9def-0123456789ab"
LARGEST_GENERATION = 9_999_999_999
SNAPSHOT = json.dumps({"cluster": {"id": CLUSTER_ID, "name": 'a "quoted" name', "generation": 3, "spec": {}}})
VARIABLES = {
    "clusterId": CLUSTER_ID,
    "generation": LARGEST_GENERATION,
    "clusterSnapshot": SNAPSHOT,
    "managementCluster": "us-east-mgmt-01",
    "maestroApiUrl": "https://maestro.example.com",
    "maestroGrpcUrl": "maestro.example.com:8090",
    "adapterImage": "registry.example.com/controlplane-adapter:1",
    "reporterImage": "registry.example.com/status-reporter:1",
    "adapter": {"name": "controlplane"},
}
TEMPLATE = compile_structure(yaml.safe_load((FOLDER / "job.yaml").read_text()))


@pytest.fixture
def job() -> dict[str, Any]:
    rendered: dict[str, Any] = TEMPLATE.render(VARIABLES)
    return rendered


@pytest.fixture
def pod(job: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = job["spec"]["template"]["spec"]
    return spec


def container(pod: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in pod["containers"] if each["name"] == name)
    return found


def environment(pod: dict[str, Any], name: str) -> dict[str, str]:
    return {each["name"]: each.get("value", "from a field") for each in container(pod, name)["env"]}


def mounts(pod: dict[str, Any], name: str) -> dict[str, Any]:
    return {each["name"]: each for each in container(pod, name)["volumeMounts"]}


def test_the_page_names_every_variable_and_no_other() -> None:
    section = (FOLDER / "README.md").read_text().split("## Variables")[1].split("##")[0]
    reported = {
        name for row in re.findall(r"^\| (.+?) \|", section, re.MULTILINE) for name in re.findall(r"`\.(\w+)", row)
    }

    assert reported == set(VARIABLES)
    assert TEMPLATE.free_variables == set(VARIABLES)


def test_the_name_fits_with_a_real_id_and_the_largest_generation(job: dict[str, Any]) -> None:
    assert job["metadata"]["name"] == f"controlplane-{CLUSTER_ID}-gen9999999999"
    assert len(job["metadata"]["name"]) == MAX_LABEL


def test_the_job_and_its_pods_are_marked(job: dict[str, Any]) -> None:
    for metadata in (job["metadata"], job["spec"]["template"]["metadata"]):
        assert metadata["labels"] == {
            "hyperfleet.io/adapter": "controlplane",
            "hyperfleet.io/cluster-id": CLUSTER_ID,
            "hyperfleet.io/generation": str(LARGEST_GENERATION),
            "hyperfleet.io/managed-by": "controlplane",
        }
        assert metadata["annotations"]["hyperfleet.io/generation"] == str(LARGEST_GENERATION)


def test_the_exit_codes_that_end_the_job_are_those_for_which_no_other_pod_could_do_better(job: dict[str, Any]) -> None:
    policy = {rule["action"]: rule for rule in job["spec"]["podFailurePolicy"]["rules"]}

    assert policy["FailJob"]["onExitCodes"] == {
        "containerName": "adapter",
        "operator": "In",
        "values": sorted([Exit.MISCONFIGURED, Exit.PERMANENT]),
    }
    assert policy["Ignore"]["onPodConditions"] == [{"type": "DisruptionTarget", "status": "True"}]


def test_each_ends_before_the_next_one_ends_it(job: dict[str, Any], pod: dict[str, Any], tmp_path: Path) -> None:
    budget = float(environment(pod, "adapter")["ADAPTER_TIME_BUDGET"].removesuffix("s"))
    wait = float(environment(pod, "status-reporter")["MAX_WAIT_TIME_SECONDS"])
    pods = job["spec"]["backoffLimit"] + 1
    waits = sum(10 * 2**number for number in range(pods - 1))

    assert (budget, wait) == (120, 150)
    assert budget < wait < pod["activeDeadlineSeconds"] == 180
    assert pods * pod["activeDeadlineSeconds"] + waits <= job["spec"]["activeDeadlineSeconds"] == 900
    assert job["spec"]["ttlSecondsAfterFinished"] == 60
    grace = reporter_settings.load({"KUBERNETES_SERVICE_HOST": "k", "JOB_NAMESPACE": "n"}).grace
    assert grace < pod["terminationGracePeriodSeconds"]


def test_the_adapter_understands_what_it_is_reported(pod: dict[str, Any], tmp_path: Path) -> None:
    snapshot = tmp_path / "snapshot.json"
    snapshot.write_text(SNAPSHOT.replace(": 3", f": {LARGEST_GENERATION}"))

    loaded = settings.load(environment(pod, "adapter") | {"CLUSTER_SNAPSHOT_PATH": str(snapshot)})

    assert loaded.consumer == "us-east-mgmt-01"
    assert loaded.maestro.cert_file == Path("/etc/hyperfleet/maestro/tls.crt")
    assert not loaded.maestro.insecure


def test_the_reporter_understands_what_it_is_reported(job: dict[str, Any], pod: dict[str, Any]) -> None:
    loaded = reporter_settings.load(environment(pod, "status-reporter") | {"KUBERNETES_SERVICE_HOST": "kubernetes"})

    assert loaded.results_path == settings.results_path(environment(pod, "adapter"))
    assert loaded.job_name == job["metadata"]["name"]
    assert loaded.condition_types == ("Applied", "Available", "Health")
    assert loaded.adapter_container == "adapter"


def test_the_snapshot_is_what_the_pod_says_of_itself(job: dict[str, Any], pod: dict[str, Any]) -> None:
    (volume,) = (each for each in pod["volumes"] if each["name"] == "cluster")
    (item,) = volume["downwardAPI"]["items"]
    annotation = item["fieldRef"]["fieldPath"].split("'")[1]

    assert job["spec"]["template"]["metadata"]["annotations"][annotation] == SNAPSHOT
    mounted = mounts(pod, "adapter")["cluster"]["mountPath"]
    assert environment(pod, "adapter")["CLUSTER_SNAPSHOT_PATH"] == f"{mounted}/{item['path']}"


def test_the_adapter_has_no_token_and_the_reporter_cannot_write_results(pod: dict[str, Any]) -> None:
    assert pod["automountServiceAccountToken"] is False
    assert "account" not in mounts(pod, "adapter")
    assert mounts(pod, "status-reporter")["account"]["mountPath"] == reporter_settings.ACCOUNT
    assert mounts(pod, "status-reporter")["results"]["readOnly"] is True
    assert not mounts(pod, "adapter")["results"].get("readOnly")
    assert {each["name"] for each in mounts(pod, "status-reporter").values()} == {"results", "account"}
