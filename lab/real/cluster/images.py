"""Images for the node: the pause image that every pod needs, and those that podman has."""

import hashlib
import io
import json
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

from lab.real.building import built
from lab.real.cluster.runtime import PAUSE_IMAGE, Runtime


def load(runtime: Runtime, names: Iterable[str]) -> None:
    """Bring images from podman's store to the node; pods must not try to pull them."""
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            archive = Path(folder) / "image.tar"
            subprocess.run(
                ["podman", "save", "--quiet", "--format", "docker-archive", "--output", archive, name], check=True
            )
            runtime.load(archive)


def load_pause(runtime: Runtime) -> None:
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "pause.tar"
        archive.write_bytes(_image(PAUSE_IMAGE, built("pause", ".", name="pause")))
        runtime.load(archive)


def _image(name: str, program: Path) -> bytes:
    """An image of one static program, in the form that `docker save` writes."""
    layer = _tar({program.name: program.read_bytes()}, mode=0o755)
    settings = {
        "architecture": _architecture(),
        "os": "linux",
        "config": {"Entrypoint": [f"/{program.name}"], "User": "65535:65535"},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
    }
    index = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    return _tar(
        {
            "config.json": json.dumps(settings).encode(),
            "layer.tar": layer,
            "manifest.json": json.dumps(index).encode(),
        }
    )


def _tar(files: dict[str, bytes], mode: int = 0o644) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def _architecture() -> str:
    told = subprocess.run(["go", "env", "GOARCH"], check=True, capture_output=True, text=True)
    return told.stdout.strip()
