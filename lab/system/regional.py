"""What a platform team sets up once on the regional cluster for the control plane adapter's Jobs."""

import re
import shutil
import ssl
from pathlib import Path

import httpx

from lab.kubernetes import LabKubernetes

NAMESPACE = "hyperfleet-adapters"
ACCOUNT = "maestro-adapter-sa"
ADAPTER_IMAGE = "controlplane-adapter:lab"
REPORTER_IMAGE = "status-reporter:lab"
JOBS = Path(__file__).parents[2] / "jobs"
_REPORTERS_RULES = [
    {"apiGroups": ["batch"], "resources": ["jobs/status"], "verbs": ["patch"]},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "watch"]},
]


async def prepare(kubernetes: LabKubernetes) -> None:
    """The namespace, the Jobs' account with the reporter's rights, and the adapter's settings for all clusters."""
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ACCOUNT}
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}
    core, rbac = f"/api/v1/namespaces/{NAMESPACE}", f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}"
    # The lab's Maestro has no TLS.
    settings = {"MAESTRO_INSECURE": "true", "CONFIRMATION_WAIT": "1s"}
    headers = {"Authorization": f"Bearer {kubernetes.admin_token}"}
    authority = kubernetes.ca_file.read_text() if kubernetes.ca_file else ""
    trust = ssl.create_default_context(cadata=authority) if authority else True
    async with httpx.AsyncClient(base_url=kubernetes.url, headers=headers, verify=trust, timeout=30) as http:
        for path, document in (
            ("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}}),
            (f"{core}/serviceaccounts", {"metadata": {"name": ACCOUNT}}),
            (f"{core}/secrets", {"metadata": {"name": "maestro-client-tls"}, "stringData": {"ca.crt": "none"}}),
            (f"{core}/configmaps", {"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": authority}}),
            (f"{core}/configmaps", {"metadata": {"name": "controlplane-adapter-config"}, "data": settings}),
            (f"{rbac}/roles", {"metadata": {"name": ACCOUNT}, "rules": _REPORTERS_RULES}),
            (f"{rbac}/rolebindings", {"metadata": {"name": ACCOUNT}, "roleRef": role, "subjects": [subject]}),
        ):
            (await http.post(path, json=document)).raise_for_status()


def copy_adapter(name: str, folder: Path, *, job_ttl: int) -> Path:
    """A copy of a shipped adapter whose Jobs live as long as the lab wants."""
    copied = folder / name
    shutil.copytree(JOBS / name, copied)
    template = copied / "job.yaml"
    if template.exists():
        text = template.read_text(encoding="utf-8")
        changed = re.sub(r"ttlSecondsAfterFinished: \d+", f"ttlSecondsAfterFinished: {job_ttl}", text)
        template.write_text(changed, encoding="utf-8")
    return copied
