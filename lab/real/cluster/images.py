"""Images for the node: the pause image that every pod needs, and ours, as podman builds them."""

import hashlib
import io
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path

from lab.real import images
from lab.real.building import built
from lab.real.cluster.place import Place
from lab.real.cluster.runtime import PAUSE_IMAGE, Runtime
from lab.real.images import Image
from lab.real.steps import step

# A tag of their own, because the kubelet would try to pull the latest.
_TAG = "cluster"
_LOADED = "images.json"


def adapter(place: Place) -> str:
    """The name of the control plane adapter's image, which is on the node now as the checkout has it."""
    return _load(place, images.built("Dockerfile.adapter", f"controlplane-adapter:{_TAG}"))


def reporter(place: Place) -> str:
    """The same of the status reporter's."""
    return _load(place, images.built("Dockerfile.reporter", f"status-reporter:{_TAG}"))


def _load(place: Place, image: Image) -> str:
    """Bring an image from podman's store to the node, which need not be told twice of the same one."""
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
    told = subprocess.run(["go", "env", "GOARCH"], check=True, capture_output=True, text=True)
    return told.stdout.strip()
