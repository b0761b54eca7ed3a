"""The container's settings: every variable, its default, and all that can be wrong, at once."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from controlplane_adapter.hostedcluster.render_settings import RenderSettings
from controlplane_adapter.settings import MAX_INLINE_BYTES, Settings, load, read, results_path
from shared.errors import Misconfigured

CLUSTER_ID = "019466a0-8f8e-7abc-9def-0123456789ab"
SNAPSHOT: dict[str, Any] = {
    "cluster": {"id": CLUSTER_ID, "name": "demo", "generation": 3, "spec": {"gcp_region": "us-central1"}},
    "nodepools": {"total": 2},
    "adapters": {"dns": {"base_domain": "example.com"}},
}
ENOUGH = {
    "CLUSTER_SNAPSHOT": json.dumps(SNAPSHOT),
    "MANAGEMENT_CLUSTER_CONSUMER": "us-east-mgmt-01",
    "MAESTRO_API_URL": "https://maestro.example.com",
    "MAESTRO_GRPC_URL": "https://maestro.example.com:8090",
}


def loaded(**environment: str) -> Settings:
    return load(ENOUGH | environment)


def reported(environment: Mapping[str, str]) -> str:
    """All that is wrong with an environment."""
    with pytest.raises(Misconfigured) as caught:
        load(environment)
    assert str(caught.value).startswith("the control plane adapter cannot start: ")
    return str(caught.value)


def test_little_is_needed_and_the_rest_is_as_documented() -> None:
    settings = load(ENOUGH)

    assert (settings.consumer, settings.placement_url) == ("us-east-mgmt-01", "")
    assert (settings.budget, settings.confirmation) == (120.0, 20.0)
    assert settings.overlay == {}
    assert settings.render == RenderSettings()
    assert (settings.thresholds.degraded, settings.thresholds.install) == (300.0, 2700.0)
    assert (settings.thresholds.deletion, settings.thresholds.agent_silence) == (1800.0, 300.0)
    assert settings.maestro.source_id == "controlplane-adapter"
    assert results_path(ENOUGH) == Path("/results/adapter-report.json")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("MANAGEMENT_CLUSTER_CONSUMER", "eu-mgmt-02", lambda settings: settings.consumer == "eu-mgmt-02"),
        (
            "MANAGEMENT_CLUSTERS_URL",
            "https://api.example.com/v1/management-clusters",
            lambda settings: settings.placement_url == "https://api.example.com/v1/management-clusters",
        ),
        ("ADAPTER_TIME_BUDGET", "90s", lambda settings: settings.budget == 90.0),
        ("CONFIRMATION_WAIT", "5s", lambda settings: settings.confirmation == 5.0),
        ("CONFIRMATION_WAIT", "0", lambda settings: settings.confirmation == 0.0),
        ("DEGRADED_DAMPING", "10m", lambda settings: settings.thresholds.degraded == 600.0),
        ("INSTALL_DAMPING", "1h", lambda settings: settings.thresholds.install == 3600.0),
        ("DELETION_STUCK_AFTER", "45m", lambda settings: settings.thresholds.deletion == 2700.0),
        ("AGENT_SILENT_AFTER", "90", lambda settings: settings.thresholds.agent_silence == 90.0),
        ("MAESTRO_SOURCE_ID", "another", lambda settings: settings.maestro.source_id == "another"),
        ("HYPERFLEET_MAESTRO_SOURCE_ID", "another", lambda settings: settings.maestro.source_id == "another"),
        ("MAESTRO_SOURCE_ID", " ", lambda settings: settings.maestro.source_id == "controlplane-adapter"),
        ("MAESTRO_TIMEOUT", "3s", lambda settings: settings.maestro.timeout == 3.0),
        ("MAESTRO_RETRY_BUDGET", "7s", lambda settings: settings.maestro.retry_budget == 7.0),
        ("GENERATION", "3", lambda settings: settings.snapshot.generation == 3),
        ("CLUSTER_ID", CLUSTER_ID, lambda settings: settings.snapshot.cluster_id == CLUSTER_ID),
    ],
)
def test_each_variable_is_read(name: str, text: str, value: Callable[[Settings], bool]) -> None:
    assert value(loaded(**{name: text}))


def test_the_report_goes_to_the_configured_path() -> None:
    assert results_path({"RESULTS_OUTPUT_PATH": " /out/report.json "}) == Path("/out/report.json")


def test_the_report_has_a_place_though_nothing_else_is_known() -> None:
    assert results_path({}) == Path("/results/adapter-report.json")


@pytest.mark.parametrize(
    ("budget", "confirmation", "retrying"),
    [("120s", 20.0, 55.0), ("25s", 10.0, 7.5), ("7s", 1.0, 1.0)],
    ids=["the usual", "a short one", "hardly any"],
)
def test_what_is_waited_for_fits_into_the_budget(budget: str, confirmation: float, retrying: float) -> None:
    settings = loaded(ADAPTER_TIME_BUDGET=budget)

    assert settings.confirmation == confirmation
    assert settings.maestro.retry_budget == retrying


def test_trouble_with_maestro_is_tried_again_for_as_long_as_the_budget_allows_not_a_few_times() -> None:
    assert load(ENOUGH).maestro.retry_attempts >= 1000


BAD = [
    ("ADAPTER_TIME_BUDGET", "soon", "ADAPTER_TIME_BUDGET: 'soon' is not a duration"),
    ("ADAPTER_TIME_BUDGET", "5s", "ADAPTER_TIME_BUDGET: must be more than 5s"),
    ("CONFIRMATION_WAIT", "-1s", "CONFIRMATION_WAIT: "),
    ("DEGRADED_DAMPING", "x", "DEGRADED_DAMPING: "),
    ("INSTALL_DAMPING", "x", "INSTALL_DAMPING: "),
    ("DELETION_STUCK_AFTER", "x", "DELETION_STUCK_AFTER: "),
    ("AGENT_SILENT_AFTER", "x", "AGENT_SILENT_AFTER: "),
    ("MANAGEMENT_CLUSTER_CONSUMER", "Mgmt_01", "MANAGEMENT_CLUSTER_CONSUMER: must be the name of a management cluster"),
    ("MANAGEMENT_CLUSTER_CONSUMER", "", "MANAGEMENT_CLUSTER_CONSUMER: must be set (or MANAGEMENT_CLUSTERS_URL)"),
    ("MANAGEMENT_CLUSTERS_URL", "api.example.com", "MANAGEMENT_CLUSTERS_URL: must be an http or https URL"),
    ("MANAGEMENT_CLUSTERS_URL", "https://", "MANAGEMENT_CLUSTERS_URL: must be an http or https URL"),
    ("MANAGEMENT_CLUSTERS_URL", "https://host:port", "MANAGEMENT_CLUSTERS_URL: "),
    ("HOSTED_CLUSTER_OVERLAY_PATH", "/nowhere/overlay.yaml", "HOSTED_CLUSTER_OVERLAY_PATH: the overlay /nowhere/overlay.yaml cannot be read"),
    ("HOSTED_CLUSTER_LABELS", "team", "HOSTED_CLUSTER_LABELS: must be pairs"),
    ("HOSTED_CLUSTER_CLUSTER_NETWORK_HOST_PREFIX", "23,x", "HOSTED_CLUSTER_CLUSTER_NETWORK_HOST_PREFIX: must be a whole number"),
    ("HOSTED_CLUSTER_CLUSTER_NETWORK_HOST_PREFIX", "\u00b2", "HOSTED_CLUSTER_CLUSTER_NETWORK_HOST_PREFIX: must be a whole number"),
    ("MAESTRO_API_URL", "nonsense", "MAESTRO_API_URL: must be an http or https URL"),
    ("MAESTRO_GRPC_URL", "", "MAESTRO_GRPC_URL: must be set"),
    ("MAESTRO_TIMEOUT", "x", "MAESTRO_TIMEOUT: "),
    ("CLUSTER_ID", "another", f"CLUSTER_ID: is 'another', but the snapshot has '{CLUSTER_ID}'"),
    ("GENERATION", "4", "GENERATION: is '4', but the snapshot has '3'"),
    ("CLUSTER_SNAPSHOT_PATH", "/nowhere/snapshot.json", "CLUSTER_SNAPSHOT_PATH: /nowhere/snapshot.json: No such file"),
    ("CLUSTER_SNAPSHOT_PATH", "/", "CLUSTER_SNAPSHOT_PATH: /: Is a directory"),
    ("CLUSTER_SNAPSHOT", "", "CLUSTER_SNAPSHOT: must be set (or CLUSTER_SNAPSHOT_PATH)"),
    ("CLUSTER_SNAPSHOT", "{", "CLUSTER_SNAPSHOT: the cluster snapshot is not JSON"),
    ("CLUSTER_SNAPSHOT", "\udcff", "CLUSTER_SNAPSHOT: the cluster snapshot is not JSON"),
    ("CLUSTER_SNAPSHOT", "[]", "CLUSTER_SNAPSHOT: the cluster snapshot must be a JSON object"),
    ("CLUSTER_SNAPSHOT", "{}", "CLUSTER_SNAPSHOT: cluster: must be an object"),
    ("CLUSTER_SNAPSHOT", '{"cluster": {"id": 7}}', "CLUSTER_SNAPSHOT: cluster.id: must be a string"),
    ("CLUSTER_SNAPSHOT", " " * MAX_INLINE_BYTES + "{}" , "CLUSTER_SNAPSHOT: cluster: must be an object"),
    ("CLUSTER_SNAPSHOT", '"' + "x" * MAX_INLINE_BYTES + '"', "CLUSTER_SNAPSHOT: has 122882 bytes, more than 122880; use CLUSTER_SNAPSHOT_PATH instead"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "message"), BAD, ids=[f"{name}={text:.30}" for name, text, _ in BAD])
def test_what_is_wrong_is_reported_by_its_variable(name: str, text: str, message: str) -> None:
    assert message in reported(ENOUGH | {name: text})


def test_all_that_is_wrong_is_reported_at_once() -> None:
    everything = reported(
        {
            "CLUSTER_SNAPSHOT": '{"cluster": {"id": "", "generation": 0}}',
            "ADAPTER_TIME_BUDGET": "soon",
            "AGENT_SILENT_AFTER": "never",
            "HOSTED_CLUSTER_ANNOTATIONS": "x",
            "HOSTED_CLUSTER_OVERLAY_PATH": "/nowhere",
            "MANAGEMENT_CLUSTERS_URL": "nowhere",
            "MAESTRO_KEEPALIVE_TIME": "often",
        }
    )

    for message in (
        "cluster.id",
        "cluster.name",
        "cluster.generation",
        "cluster.spec",
        "ADAPTER_TIME_BUDGET",
        "AGENT_SILENT_AFTER",
        "HOSTED_CLUSTER_ANNOTATIONS",
        "HOSTED_CLUSTER_OVERLAY_PATH",
        "MANAGEMENT_CLUSTERS_URL",
        "MAESTRO_KEEPALIVE_TIME",
        "MAESTRO_API_URL",
        "MAESTRO_GRPC_URL",
    ):
        assert message in everything


def test_a_setting_that_cannot_be_read_does_not_hide_files_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("not a certificate")
    files = {
        "MAESTRO_CA_FILE": str(tmp_path / "ca.crt"),
        "MAESTRO_CERT_FILE": "/no/cert",
        "MAESTRO_KEY_FILE": "/no/key",
        "MAESTRO_HTTP_TOKEN_FILE": "/no/token",
    }

    message = reported(ENOUGH | files | {"MAESTRO_TIMEOUT": "soon", "HOSTED_CLUSTER_LABELS": "x"})

    assert [name for name in ("MAESTRO_TIMEOUT", "HOSTED_CLUSTER_LABELS", *files) if f"{name}: " not in message] == []
    assert "_ssl" not in message


@pytest.mark.parametrize(
    ("environment", "observable"),
    [
        ({"CONFIRMATION_WAIT": "soon"}, True),
        ({"MAESTRO_TIMEOUT": "soon", "HYPERFLEET_MAESTRO_RETRY_ATTEMPTS": "x"}, True),
        ({"MANAGEMENT_CLUSTER_CONSUMER": ""}, True),
        ({"MAESTRO_SOURCE_ID": "\u00fc"}, False),
        ({"MAESTRO_API_URL": "nonsense", "MAESTRO_HTTP_SERVER_ADDRESS": "https://maestro.example.com"}, False),
        ({"MAESTRO_INSECURE": "perhaps", "MAESTRO_API_URL": "http://maestro.example.com"}, False),
        ({"MAESTRO_CERT_FILE": "/no/cert"}, False),
        ({"CLUSTER_ID": "another"}, False),
        ({"GENERATION": "4"}, False),
        ({"CLUSTER_SNAPSHOT": "{"}, False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_a_default_replaces_what_is_malformed_unless_it_would_observe_something_else(
    environment: dict[str, str],
    observable: bool,  # noqa: FBT001 - a column of the table
) -> None:
    settings, problems = read(ENOUGH | environment)

    assert problems
    assert (settings is not None) == observable
    if settings is not None:
        assert (settings.confirmation, settings.maestro.timeout) == (20.0, 10.0)
        assert settings.maestro.retry_attempts >= 1000


def test_a_password_in_the_address_of_the_list_is_not_reported() -> None:
    assert "hunter2" not in reported(ENOUGH | {"MANAGEMENT_CLUSTERS_URL": "ftp://me:hunter2@api.example.com/"})


def test_a_mounted_snapshot_wins_over_an_inline_one(tmp_path: Path) -> None:
    mounted = tmp_path / "snapshot.json"
    mounted.write_text(json.dumps({**SNAPSHOT, "cluster": {**SNAPSHOT["cluster"], "generation": 9}}))

    settings = loaded(CLUSTER_SNAPSHOT_PATH=str(mounted))

    assert settings.snapshot.generation == 9
    assert settings.snapshot.node_pools == 2
    assert settings.snapshot.adapters == {"dns": {"base_domain": "example.com"}}


def test_a_mounted_snapshot_may_be_larger_than_an_inline_one(tmp_path: Path) -> None:
    mounted = tmp_path / "snapshot.json"
    large = {**SNAPSHOT["cluster"], "spec": {"note": "x" * MAX_INLINE_BYTES}}
    mounted.write_text(json.dumps({"cluster": large}))

    assert loaded(CLUSTER_SNAPSHOT_PATH=str(mounted)).snapshot.spec == large["spec"]


def test_the_overlay_is_read(tmp_path: Path) -> None:
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("spec: {fips: true}")

    assert loaded(HOSTED_CLUSTER_OVERLAY_PATH=str(overlay)).overlay == {"spec": {"fips": True}}


# A value of each kind of setting, and what it stands for.
SAMPLES: dict[Any, tuple[str, Any]] = {
    str: ("some-text", "some-text"),
    Mapping[str, str]: ("a=b, c=d=e", {"a": "b", "c": "d=e"}),
    str | tuple[str, ...]: ("10.0.0.0/16, fd01::/48", ("10.0.0.0/16", "fd01::/48")),
    int | tuple[int, ...] | None: ("23,64", (23, 64)),
}


@pytest.mark.parametrize("field", fields(RenderSettings), ids=lambda field: field.name)
def test_each_setting_of_the_rendering_has_its_variable(field: Any) -> None:
    text, value = SAMPLES[field.type]

    settings = loaded(**{f"HOSTED_CLUSTER_{field.name.upper()}": text})

    assert settings.render == RenderSettings(**{field.name: value})


@pytest.mark.parametrize("field", fields(RenderSettings), ids=lambda field: field.name)
def test_an_empty_variable_takes_a_default_of_the_rendering_away(field: Any) -> None:
    settings = loaded(**{f"HOSTED_CLUSTER_{field.name.upper()}": " "})

    assert not getattr(settings.render, field.name)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("issuer_url", "https://example.com/a,b", "https://example.com/a,b"),
        ("cluster_network_cidr", "10.0.0.0/16", "10.0.0.0/16"),
        ("cluster_network_host_prefix", "23", 23),
    ],
    ids=["a comma in a text is a comma", "one range is one text", "one number is for all ranges"],
)
def test_a_list_is_a_list_only_where_there_can_be_one(name: str, text: str, value: object) -> None:
    settings = loaded(**{f"HOSTED_CLUSTER_{name.upper()}": text})

    assert getattr(settings.render, name) == value
