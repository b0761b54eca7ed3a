"""`python -m dpu_bridge`: what it says to those who run it by hand."""

import subprocess
import sys

import pytest

from dpu_bridge import settings
from shared.errors import Misconfigured


def command(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "dpu_bridge", *arguments],
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_its_help_names_every_setting() -> None:
    shown = command("--help")
    assert shown.returncode == 0
    assert not [each.name for each in settings.SETTINGS if each.name not in shown.stdout]


def test_an_argument_is_refused_with_a_hint() -> None:
    refused = command("--namespace=x")
    assert refused.returncode == 2
    assert "--help" in refused.stderr


def test_all_bad_settings_are_named_at_once() -> None:
    refused = command(CLEANUP_TIMEOUT="soon", HEALTH_PORT="99999", BRIDGE_FILES_DIR="files")
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
    for name in ("CLEANUP_TIMEOUT", "HEALTH_PORT", "BRIDGE_FILES_DIR"):
        assert name in refused.stderr


def test_settings_are_read() -> None:
    read = settings.read(
        {"POD_NAMESPACE": "mine", "BRIDGE_NAMESPACES": "a, b,", "CLEANUP_TIMEOUT": "5m", "WEBHOOK_PORT": "9443"}
    )
    assert (read.namespaces, read.planning.cleanup_timeout, read.planning.images_namespace) == (("a", "b"), 300, "mine")
    assert read.webhook is not None
    assert read.webhook.names[0] == "dpu-hcp-bridge-webhook.mine.svc"
    assert settings.read({}).webhook is None


def test_bad_settings_raise() -> None:
    with pytest.raises(Misconfigured):
        settings.read({"RESYNC_INTERVAL": "0"})
