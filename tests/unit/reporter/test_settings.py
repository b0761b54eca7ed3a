"""The sidecar's environment: every variable in both spellings, what is found by itself, and all problems at once."""

import socket
from pathlib import Path
from typing import Any

import pytest

from status_reporter.settings import MisconfiguredReporter, Settings, load

POD = {
    "JOB_NAMESPACE": "hyperfleet-adapters",
    "KUBERNETES_SERVICE_HOST": "10.0.0.1",
    "KUBERNETES_SERVICE_PORT": "443",
    "POD_NAME": "a-pod",
}


def problems_of(environment: dict[str, str]) -> dict[str, str]:
    with pytest.raises(MisconfiguredReporter) as refused:
        load(environment)
    return {problem.path: problem.message for problem in refused.value.problems}


def test_a_pod_needs_no_setting_but_its_api_server(tmp_path: Path) -> None:
    (tmp_path / "namespace").write_text("found\n")
    settings = load({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "SERVICE_ACCOUNT_PATH": str(tmp_path)})

    assert settings == Settings(
        results_path=Path("/results/adapter-report.json"),
        poll_interval=2.0,
        max_wait=300.0,
        pod_name=socket.gethostname(),
        namespace="found",
        job_name=None,
        condition_types=("Available",),
        adapter_container=None,
        api_url="https://10.0.0.1:443",
        account=tmp_path,
        grace=20.0,
        termination_log=Path("/dev/termination-log"),
        log_level="info",
        log_format="json",
        cluster_id="",
        generation="",
        consumer="",
    )


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("RESULTS_INPUT_PATH", "/shared/r.json", "results_path", Path("/shared/r.json")),
        ("RESULTS_PATH", "/shared/r.json", "results_path", Path("/shared/r.json")),
        ("POLL_INTERVAL", "3", "poll_interval", 3.0),
        ("POLL_INTERVAL", "0.5", "poll_interval", 0.5),
        ("POLL_INTERVAL", "500ms", "poll_interval", 0.5),
        ("POLL_INTERVAL_SECONDS", "1m30s", "poll_interval", 90.0),
        ("MAX_WAIT_TIME_SECONDS", "150", "max_wait", 150.0),
        ("MAX_WAIT_TIME_SECONDS", "8760h", "max_wait", 31_536_000.0),
        ("JOB_NAME", " a-job ", "job_name", "a-job"),
        ("JOB_NAMESPACE", "elsewhere", "namespace", "elsewhere"),
        ("CLUSTER_ID", "c-1", "cluster_id", "c-1"),
        ("GENERATION", "3", "generation", "3"),
        ("MANAGEMENT_CLUSTER_CONSUMER", "mgmt-01", "consumer", "mgmt-01"),
        ("POD_NAME", "another-pod", "pod_name", "another-pod"),
        ("CONDITION_TYPE", "Health", "condition_types", ("Health",)),
        (
            "CONDITION_TYPE",
            "Applied, Available ,Health,Applied,",
            "condition_types",
            ("Applied", "Available", "Health"),
        ),
        ("CONDITION_TYPE", "example.com/Ready", "condition_types", ("example.com/Ready",)),
        ("ADAPTER_CONTAINER_NAME", "main", "adapter_container", "main"),
        ("KUBERNETES_API_URL", "http://127.0.0.1:8080", "api_url", "http://127.0.0.1:8080"),
        ("KUBERNETES_SERVICE_HOST", "fd00::1", "api_url", "https://[fd00::1]:443"),
        ("KUBERNETES_SERVICE_PORT", "6443", "api_url", "https://10.0.0.1:6443"),
        ("SERVICE_ACCOUNT_PATH", "/secrets", "account", Path("/secrets")),
        ("SHUTDOWN_GRACE_SECONDS", "5s", "grace", 5.0),
        ("TERMINATION_MESSAGE_PATH", "/dev/other", "termination_log", Path("/dev/other")),
        ("LOG_LEVEL", "DEBUG", "log_level", "debug"),
        ("LOG_FORMAT", "Text", "log_format", "text"),
    ],
)
def test_a_variable_sets_its_field_and_no_other(name: str, text: str, field: str, value: Any) -> None:
    assert load({**POD, name: text}) == load(POD)._replace(**{field: value})


@pytest.mark.parametrize(
    ("ours", "gos", "field"),
    [
        ({"RESULTS_INPUT_PATH": "/a.json"}, {"RESULTS_PATH": "/b.json"}, "results_path"),
        ({"POLL_INTERVAL": "1"}, {"POLL_INTERVAL_SECONDS": "5"}, "poll_interval"),
    ],
)
def test_of_two_spellings_the_documented_one_wins_and_an_empty_one_counts_for_nothing(
    ours: dict[str, str], gos: dict[str, str], field: str
) -> None:
    assert getattr(load(POD | ours | gos), field) == getattr(load(POD | ours), field)
    emptied = dict.fromkeys(ours, "  ")
    assert getattr(load(POD | emptied | gos), field) == getattr(load(POD | gos), field)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("RESULTS_INPUT_PATH", "results.json", "must be the absolute path of a file"),
        ("RESULTS_PATH", "/results/", "must be the absolute path of a file"),
        ("POLL_INTERVAL", "often", "is not a duration"),
        ("POLL_INTERVAL_SECONDS", "0", "must be more than 0"),
        ("POLL_INTERVAL", "300", "must be less than MAX_WAIT_TIME_SECONDS"),
        ("MAX_WAIT_TIME_SECONDS", "-1", "is not a duration"),
        ("MAX_WAIT_TIME_SECONDS", "99999999999999999999", "at most a year"),
        ("SHUTDOWN_GRACE_SECONDS", "0s", "must be more than 0"),
        ("CONDITION_TYPE", "Complete", "belongs to the Job controller"),
        ("CONDITION_TYPE", "Available,Failed,Suspended", "Failed, Suspended belongs to the Job controller"),
        ("CONDITION_TYPE", ",", "must name at least one condition"),
        ("CONDITION_TYPE", "very good", "must be a name such as Available"),
        ("LOG_LEVEL", "loud", "must be one of debug, info, warn, warning, error"),
        ("LOG_FORMAT", "xml", "must be one of json, text"),
        ("KUBERNETES_API_URL", "10.0.0.1:443", "must be an http or https URL"),
        ("KUBERNETES_API_URL", "https://host:99999", "must be an http or https URL"),
        ("KUBERNETES_API_URL", "https://[::1", "must be an http or https URL"),
        ("KUBERNETES_SERVICE_HOST", "", "outside a pod"),
    ],
)
def test_a_value_that_cannot_work_is_reported_by_its_variable(name: str, text: str, expected: str) -> None:
    problems = problems_of({**POD, name: text})
    assert list(problems) == [name]
    assert expected in problems[name]


def test_all_problems_are_reported_at_once_and_what_could_be_understood_is_kept(tmp_path: Path) -> None:
    environment = {
        "SERVICE_ACCOUNT_PATH": str(tmp_path),
        "KUBERNETES_SERVICE_HOST": "10.0.0.1",
        "POLL_INTERVAL": "never",
        "CONDITION_TYPE": "Complete",
        "LOG_LEVEL": "loud",
        "JOB_NAME": "a-job",
    }
    with pytest.raises(MisconfiguredReporter) as refused:
        load(environment)

    assert {problem.path for problem in refused.value.problems} == {
        "JOB_NAMESPACE",
        "POLL_INTERVAL",
        "CONDITION_TYPE",
        "LOG_LEVEL",
    }
    assert all(name in str(refused.value) for name in ("JOB_NAMESPACE", "POLL_INTERVAL", "CONDITION_TYPE", "LOG_LEVEL"))
    assert refused.value.usable.job_name == "a-job"
    assert refused.value.usable.condition_types == ("Available",)


def test_a_namespace_file_that_is_no_text_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / "namespace").write_bytes(b"\xff\xfe")
    problems = problems_of({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "SERVICE_ACCOUNT_PATH": str(tmp_path)})
    assert "namespace cannot be read" in problems["JOB_NAMESPACE"]


def test_a_wrong_address_leaves_the_pods_own_to_report_it_with() -> None:
    with pytest.raises(MisconfiguredReporter) as refused:
        load(POD | {"KUBERNETES_API_URL": "nonsense"})
    assert refused.value.usable.api_url == "https://10.0.0.1:443"
