"""Secrets planted in every setting, flag and file of every program, and looked for in everything that comes out of it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from controlplane_adapter import setting_table as adapter_settings
from dpu_bridge.settings import SETTINGS as BRIDGE_SETTINGS
from shared.environment import Setting
from status_reporter.settings import SETTINGS as REPORTER_SETTINGS
from tests.support.kubernetes import good
from tests.support.reporter import APPLIED, Scene

ROOT = Path(__file__).parents[3]
SECRET = "s3cr3tV4lue9"
SPELLINGS = {
    "a user of a URL": f"https://admin:{SECRET}@127.0.0.1:1/x",
    "a user of another URL": f"grpc://admin:{SECRET}@127.0.0.1:1",
    "a long user": f"https://{'u' * 200}:{SECRET}@127.0.0.1:1/x",
    "a bearer token": f"Bearer {SECRET}",
    "an assignment": f"token={SECRET}",
    "a JSON member": f'{{"password": "{SECRET}"}}',
    "a JWT": f"eyJhbGciOiJSUzI1NiJ9.{SECRET}.c2lnbmF0dXJl",
    "a private key": f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n-----END PRIVATE KEY-----",
}
some_spellings = pytest.mark.parametrize("spelling", list(SPELLINGS.values())[:6:2], ids=list(SPELLINGS)[:6:2])
each_spelling = pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)


def run(module: str, *arguments: str, environment: Mapping[str, str], folder: Path) -> str:
    """All that a program leaves behind: both streams, and the files it wrote into its folder."""
    before = set(folder.rglob("*"))
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env={**inherited, "PYTHONPATH": str(ROOT), **environment},
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=240,
    )
    written = [each.read_bytes() for each in set(folder.rglob("*")) - before if each.is_file()]
    everything = b"\n".join([done.stdout, done.stderr, *written]).decode(errors="replace")
    assert everything.strip(), "a program that says nothing hides nothing"
    assert "Traceback" not in everything
    return everything


def is_clean(text: str) -> bool:
    """Whether the secret is nowhere in it, in upper or lower case."""
    return SECRET.lower() not in text.lower()


def variables(settings: Iterable[Setting[Any]]) -> set[str]:
    return {name for setting in settings for name in setting.names}


@each_spelling
def test_the_sidecar_shows_no_secret_of_its_settings(tmp_path: Path, spelling: str) -> None:
    environment = dict.fromkeys(variables(REPORTER_SETTINGS) - {"KUBERNETES_API_URL"}, spelling)
    environment |= {"TERMINATION_MESSAGE_PATH": str(tmp_path / "message"), "LOG_LEVEL": "debug"}
    assert is_clean(run("status_reporter", environment=environment, folder=tmp_path))


@each_spelling
def test_the_control_plane_adapter_shows_no_secret_of_its_settings(tmp_path: Path, spelling: str) -> None:
    rendered, of_maestro = adapter_settings.render_settings().values(), adapter_settings.maestro_settings()
    environment = dict.fromkeys(variables([*adapter_settings.SETTINGS, *rendered, *of_maestro]), spelling)
    environment |= {
        "RESULTS_OUTPUT_PATH": str(tmp_path / "report.json"),
        "TERMINATION_MESSAGE_PATH": str(tmp_path / "message"),
        "LOG_LEVEL": "debug",
        "LOG_FORMAT": "json",
        "LOG_OUTPUT": "stderr",
    }
    output = run("controlplane_adapter", environment=environment, folder=tmp_path)
    assert (tmp_path / "report.json").exists()
    assert is_clean(output)


@some_spellings
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["--condition", "A=True:{}:x", "--condition", "A=True"], id="a reason"),
        pytest.param(["--condition", "A={}"], id="a status"),
        pytest.param(["--condition", "A=True", "--data", "{}x", "--data-json", "{}"], id="data"),
        pytest.param(["--condition", "A=True", "--observed-generation", "1", "--file", "/nowhere/{}"], id="a path"),
    ],
)
def test_adapter_report_shows_no_secret_of_its_arguments(tmp_path: Path, spelling: str, arguments: list[str]) -> None:
    planted = [each.replace("{}", spelling) for each in arguments]
    assert is_clean(run("status_reporter.writing", "write", *planted, environment={}, folder=tmp_path))


@each_spelling
def test_maestro_cli_shows_no_secret_of_its_environment(tmp_path: Path, spelling: str) -> None:
    help_text = run("maestro_cli", "--help", environment={}, folder=tmp_path)
    names = set(re.findall(r"\$(MAESTRO_\w+)", re.sub(r"\s+", "", help_text).replace("$", " $")))
    assert {"MAESTRO_GRPC_ENDPOINT", "MAESTRO_GRPC_TOKEN", "MAESTRO_HTTP_TOKEN_FILE"} <= names
    environment = dict.fromkeys(names - {"MAESTRO_GRPC_INSECURE"}, spelling)
    assert is_clean(run("maestro_cli", "get", "w", "--consumer", "c", environment=environment, folder=tmp_path))


@some_spellings
@pytest.mark.parametrize("command", ["validate", "config-dump", "serve"])
def test_the_dispatcher_shows_no_secret_of_its_settings(tmp_path: Path, spelling: str, command: str) -> None:
    jobs = ROOT / "jobs" / "controlplane"
    config = tmp_path / "adapter-config.yaml"
    section = {
        "hyperfleet_api": {"base_url": spelling, "auth": {"token": spelling}, "timeout": spelling},
        "maestro": {"grpc_server_address": spelling, "http_server_address": spelling, "source_id": spelling},
        "broker": {"url": spelling, "subscription_id": spelling, "password": spelling},
    }
    config.write_text(json.dumps({"adapter": {"name": "a", "version": spelling}, "clients": section}))
    help_text = run("dispatcher.cli", "validate", "--help", environment={}, folder=tmp_path)
    names = set(re.findall(r"\$([A-Z][A-Z_]+)\)", re.sub(r"\s+", "", help_text)))
    assert len(names) > 20
    environment = dict.fromkeys(names - {"LOG_OUTPUT"}, spelling)
    task = str(jobs / "hypershift-controlplane-task-config.yaml")
    arguments = (command, "--config", str(config), "--task-config", task)
    assert is_clean(run("dispatcher.cli", *arguments, environment=environment, folder=tmp_path))


@each_spelling
def test_the_check_of_prerequisites_shows_no_secret_of_its_settings(tmp_path: Path, spelling: str) -> None:
    rendered, of_maestro = adapter_settings.render_settings().values(), adapter_settings.maestro_settings()
    environment = dict.fromkeys(variables([*adapter_settings.SETTINGS, *rendered, *of_maestro]), spelling)
    assert is_clean(run("controlplane_adapter", "check", environment=environment, folder=tmp_path))


@each_spelling
def test_the_bridge_shows_no_secret_of_its_settings(tmp_path: Path, spelling: str) -> None:
    environment = dict.fromkeys(variables(BRIDGE_SETTINGS), spelling)
    assert is_clean(run("dpu_bridge", environment=environment, folder=tmp_path))


COMMAND_LINES = {
    "status-reporter": ("status_reporter",),
    "adapter-report": ("status_reporter.writing", "write", "--condition", "A=True"),
    "controlplane-adapter": ("controlplane_adapter",),
    "controlplane-adapter check": ("controlplane_adapter", "check"),
    "hyperfleet-adapter": ("dispatcher.cli",),
    "hyperfleet-adapter validate": ("dispatcher.cli", "validate"),
    "maestro-cli": ("maestro_cli",),
    "maestro-cli get": ("maestro_cli", "get", "w"),
    "dpu-hcp-bridge": ("dpu_bridge",),
    "lab-api": ("lab.api.command",),
    "lab-broker": ("lab.broker.command",),
    "lab-kubernetes": ("lab.kubernetes.command",),
    "lab-maestro": ("lab.maestro.command",),
    "lab-sentinel": ("lab.sentinel.command", "--api", "a", "--broker", "b", "--topic", "t"),
    "hyperfleet-lab": ("lab.demo",),
}


@pytest.mark.parametrize("command", COMMAND_LINES.values(), ids=COMMAND_LINES)
def test_no_program_shows_a_secret_of_a_command_line_that_it_refuses(tmp_path: Path, command: tuple[str, ...]) -> None:
    wrong = f"--no-such-token={SECRET}", SPELLINGS["a user of a URL"]
    assert is_clean(run(*command, *wrong, environment={}, folder=tmp_path))


@each_spelling
async def test_the_sidecar_puts_no_secret_of_others_on_the_job(scene: Scene, spelling: str) -> None:
    await scene.start()
    scene.write({"conditions": [{"type": "Applied", "status": spelling}]})
    await scene.ends(7, message=f"it failed: {spelling}")
    await scene.exit_code()
    shown = json.dumps(await scene.job()) + "\n".join(scene.output) + scene.termination_message
    assert "it failed" in shown
    assert is_clean(shown)


@each_spelling
async def test_the_sidecar_redacts_the_conditions_of_a_report(scene: Scene, spelling: str) -> None:
    await scene.start()
    scene.write({"conditions": [APPLIED | {"message": f"it says {spelling}"}]})
    await scene.ends(0)
    assert await scene.exit_code() == 0
    shown = json.dumps(await scene.job()) + "\n".join(scene.output) + scene.termination_message
    assert "it says" in shown
    assert is_clean(shown)


async def test_the_sidecar_shows_no_user_of_its_api_server(scene: Scene) -> None:
    address = scene.environment["KUBERNETES_API_URL"].replace("://", f"://admin:{SECRET}@")
    await scene.start(KUBERNETES_API_URL=address)
    scene.write({"conditions": [APPLIED]})
    await scene.ends(0)
    assert await scene.exit_code() == 0
    assert is_clean("\n".join(scene.output) + scene.termination_message)


async def test_the_sidecar_shows_no_secret_of_its_account(scene: Scene) -> None:
    (scene.folder / "account" / "token").write_text(f"{SECRET}\n")
    await scene.start(MAX_WAIT_TIME_SECONDS="3")
    assert await scene.exit_code() in (3, 4)
    shown = "\n".join(scene.output) + scene.termination_message
    assert is_clean(shown)
    good(await scene.api.get("jobs", scene.name))
