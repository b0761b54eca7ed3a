"""Where the SSH key and the pull secret come from, and what is refused."""

import base64
import json
from pathlib import Path

import pytest

from dpu_bridge.api.bridge import Source
from dpu_bridge.operator.reconcile.materials import LARGEST_FILE, from_file, from_secret

SSH, PULL = "id_rsa.pub", ".dockerconfigjson"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("key", "data", "reason"),
    [
        pytest.param(SSH, {SSH: encoded("ssh")}, "", id="an SSH key"),
        pytest.param(PULL, {PULL: encoded(json.dumps({"auths": {}}))}, "", id="a pull secret"),
        pytest.param(SSH, None, "SecretNotFound", id="no Secret"),
        pytest.param(SSH, {}, "SecretKeyMissing", id="no key"),
        pytest.param(SSH, {SSH: ""}, "SecretKeyMissing", id="an empty key"),
        pytest.param(PULL, {PULL: encoded("not json")}, "InvalidPullSecret", id="no JSON"),
        pytest.param(PULL, {PULL: encoded("{}")}, "InvalidPullSecret", id="no credentials"),
        pytest.param(PULL, {PULL: "%"}, "InvalidPullSecret", id="no base64"),
    ],
)
def test_a_secret(key: str, data: dict[str, str] | None, reason: str) -> None:
    secret = None if data is None else {"data": data}
    material = from_secret(Source(secret="s"), key, "ns", secret)
    assert (material.reason, bool(material.data)) == (reason, not reason)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """As the kubelet mounts a Secret: files are links into a hidden folder."""
    files = tmp_path / "files"
    (files / "..data").mkdir(parents=True)
    (files / "..data" / "id_rsa.pub").write_text("ssh")
    (files / "id_rsa.pub").symlink_to("..data/id_rsa.pub")
    (files / "empty").write_text(" \n")
    (files / "large").write_bytes(b"x" * (LARGEST_FILE + 1))
    (tmp_path / "outside").write_text("secret")
    (files / "escape").symlink_to(tmp_path / "outside")
    return files


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        pytest.param("id_rsa.pub", "", id="by its name"),
        pytest.param("{folder}/id_rsa.pub", "", id="by its path"),
        pytest.param("../outside", "FileNotAllowed", id="outside"),
        pytest.param("/etc/passwd", "FileNotAllowed", id="anywhere"),
        pytest.param("escape", "FileNotAllowed", id="a link to the outside"),
        pytest.param("missing", "FileNotReadable", id="missing"),
        pytest.param("..data", "FileNotReadable", id="a folder"),
        pytest.param("a\0b", "FileNotReadable", id="no path"),
        pytest.param("empty", "FileNotUsable", id="empty"),
        pytest.param("large", "FileNotUsable", id="too large"),
    ],
)
def test_a_file(folder: Path, path: str, reason: str) -> None:
    material = from_file(Source(file=path.format(folder=folder)), SSH, folder)
    assert (material.reason, material.data) == (reason, "" if reason else encoded("ssh"))
