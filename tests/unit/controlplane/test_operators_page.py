"""The operator's page, and the command's help, know every variable, reason, field and exit code that the code knows."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from controlplane_adapter.exits import Exit
from controlplane_adapter.hostedcluster.immutability import FIELD_MUTABILITY
from controlplane_adapter.hostedcluster.render_settings import SERVICE_ACCOUNT_ROLES
from controlplane_adapter.hostedcluster.sources import SOURCES
from controlplane_adapter.setting_table import SETTINGS, render_settings
from controlplane_adapter.settings import load
from controlplane_adapter.status import reasons
from controlplane_adapter.status.deletion import Stage
from shared import log_settings
from shared.errors import Misconfigured
from shared.maestro.config.sources import OPTIONS
from shared.model import snapshot

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "controlplane-adapter.md").read_text()
NAMED = set(re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", PAGE, flags=re.DOTALL | re.MULTILINE)))


class Asked(dict[str, str]):
    """An environment that remembers what it was asked for."""

    def __init__(self, **environment: str) -> None:
        super().__init__(environment)
        self.names: set[str] = set()

    def get(self, key: str, default: object = None) -> object:  # type: ignore[override] # only what the settings use
        self.names.add(key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self.names.add(str(key))
        return super().__contains__(key)


def variables() -> set[str]:
    """All that the tables of settings name."""
    settings = (*SETTINGS, *render_settings().values(), *log_settings.SETTINGS, *(each.setting for each in OPTIONS))
    return {name for setting in settings for name in setting.names}


def reasons_in_the_code() -> Iterator[str]:
    yield from reasons._REASONS.values()
    yield from Stage
    for module in ("status/conditions", "status/deletion", "reconcile/plan", "reconcile/carry_out", "status/report"):
        source = (ROOT / "controlplane_adapter" / f"{module}.py").read_text()
        yield from re.findall(r'(?:reason=|Refuse\(|_refused\(|_not_available\(|return )"([A-Z][A-Za-z]+)"', source)


def test_the_settings_look_for_nothing_that_the_tables_do_not_name() -> None:
    environment = Asked(CLUSTER_SNAPSHOT='{"cluster": {"id": "x", "name": "x", "generation": 1, "spec": {}}}')
    with pytest.raises(Misconfigured):
        load(environment)
    asked = {name.removeprefix("HYPERFLEET_") for name in environment.names}

    assert {"CLUSTER_SNAPSHOT", "GENERATION", "HOSTED_CLUSTER_NAMESPACE", "MAESTRO_API_URL"} < asked <= variables()


@pytest.mark.parametrize("name", sorted(variables()))
def test_each_variable_is_on_the_page(name: str) -> None:
    assert name in NAMED


def test_the_page_knows_no_variable_that_nobody_reads() -> None:
    shown = {name for name in NAMED if re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+", name)}

    assert shown - variables() - {"POD_NAME", "HYPERFLEET_"} == set()


@pytest.mark.parametrize("reason", sorted(set(reasons_in_the_code())))
def test_each_reason_is_on_the_page(reason: str) -> None:
    assert reason in NAMED


@pytest.mark.parametrize("path", FIELD_MUTABILITY)
def test_each_field_that_cannot_change_is_on_the_page(path: str) -> None:
    of_the_network = "spec.operatorConfiguration.clusterNetworkOperator.ovnKubernetesConfig"

    assert (of_the_network if path.startswith(of_the_network) else path) in NAMED


def test_each_field_of_the_spec_is_on_the_page() -> None:
    read = {source.spec for source in SOURCES.values()} | set(SERVICE_ACCOUNT_ROLES.values())
    published = set(snapshot.schema()["$defs"]["clusterSpec"]["properties"]) - {"service_account_emails"}

    assert read <= published
    assert published <= NAMED


@pytest.mark.parametrize("code", Exit, ids=lambda code: code.name)
def test_each_exit_code_is_on_the_page_with_its_meaning(code: Exit) -> None:
    (row,) = re.findall(rf"^\| `{code.value}` \| (.+?) \|", PAGE, re.MULTILINE)

    assert code.meaning.startswith(row)


@pytest.fixture(scope="module")
def help_text() -> str:
    reported = subprocess.run(
        [sys.executable, "-m", "controlplane_adapter", "--help"], check=True, capture_output=True, text=True
    )
    return reported.stdout


def test_the_help_explains_each_variable_of_the_adapter(help_text: str) -> None:
    assert {name for name in variables() if name not in help_text} == set()
    for code in Exit:
        assert f"  {code.value}  {code.meaning}\n" in help_text


def test_an_argument_is_refused_with_the_help() -> None:
    reported = subprocess.run(
        [sys.executable, "-m", "controlplane_adapter", "create"], check=False, capture_output=True, text=True
    )

    assert reported.returncode == Exit.MISCONFIGURED
    assert reported.stdout == ""
    assert "CLUSTER_SNAPSHOT_PATH" in reported.stderr


def test_the_snapshot_is_one_that_the_adapter_takes() -> None:
    (shown,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert snapshot.ClusterSnapshot.parse(shown.encode()).generation == 3
