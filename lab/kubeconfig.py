"""The kubeconfig of an API server of the lab, real or stand-in."""

import base64
import json
from pathlib import Path


def kubeconfig(url: str, token: str, ca_file: Path | None = None) -> str:
    """JSON, which is also YAML."""
    cluster = {"server": url}
    if ca_file is not None:
        cluster["certificate-authority-data"] = base64.b64encode(ca_file.read_bytes()).decode()
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "lab", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "admin"}}],
        "current-context": "lab",
    }
    return json.dumps(document, indent=2)
