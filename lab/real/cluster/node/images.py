"""Images for the node: the pause image that every pod needs, and ours, as podman builds them."""

import hashlib
import io
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path

from lab.real.artifacts import images
from lab.real.artifacts.go_binaries import built
from lab.real.artifacts.steps import step
from lab.real.cluster.node.runtime import PAUSE_IMAGE, Runtime
from lab.real.cluster.place import Place

# Not `latest`, which the kubelet would try to pull.
_TAG = "cluster"
_LOADED = "images.json"
# Dockerfile, name and target of each of ours.
_ADAPTER = ("Dockerfile.adapter", f"controlplane-adapter:{_TAG}", "adapter")
_REPORTER = ("Dockerfile.reporter", f"status-reporter:{_TAG}", "")
_DISPATCHER = ("Dockerfile.adapter", f"hyperfleet-adapter:{_TAG}", "dispatcher")
SOURCES = (_ADAPTER, _REPORTER, _DISPATCHER)


def adapter(place: Place) -> str:
    """Build the control plane adapter's image from the checkout, load it on the node, and return its name."""
    return _load(place, *_ADAPTER)


def reporter(place: Place) -> str:
    """The same for the status reporter."""
    return _load(place, *_REPORTER)


def dispatcher(place: Place) -> str:
    """The same for the dispatcher."""
    return _load(place, *_DISPATCHER)


def _load(place: Place, dockerfile: str, name: str, target: str) -> str:
    """Build an image and copy it from podman's store to the node, unless the node has it already."""
    image = images.built(dockerfile, name, target=target)
    note = place.folder / _LOADED
    loaded: dict[str, str] = json.loads(note.read_text()) if note.exists() else {}
    found = str(image.facts()["Id"])
    if loaded.get(image.name) != found:
        with step(f"{image.name} to the node"), tempfile.TemporaryDirectory() as folder:
            archive = Path(folder) / "image.tar"
            save = ["podman", "save", "--quiet", "--format", "docker-archive", "--output", str(archive), image.name]
            subprocess.run(save, check=True)
            Runtime(place).load(archive)
        note.write_text(json.dumps(loaded | {image.name: found}))
    return image.name


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
    answer = subprocess.run(["go", "env", "GOARCH"], check=True, capture_output=True, text=True)
    return answer.stdout.strip()
