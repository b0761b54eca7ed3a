"""What the installed dispatcher's token may do is tried on the real API server, and so is what it may not."""

import ssl
from http import HTTPStatus

import httpx
import pytest

from lab.real.cluster.cluster import Cluster
from lab.real.installed.release import CONTROL_PLANE, JOBS, SYSTEM, Releases
from tests.support.cluster import TIMEOUT, Kubectl, Refused

ACCOUNT = f"{CONTROL_PLANE}-hyperfleet-adapter"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{SYSTEM}/leases"
ALLOWED = {
    "list the Jobs of its namespace": ("get", "jobs", f"--namespace={JOBS}"),
    "watch them": ("get", f"--raw=/apis/batch/v1/namespaces/{JOBS}/jobs?watch=1&timeoutSeconds=1"),
    "create one": ("create", "job", "one", "--image=x", f"--namespace={JOBS}", "--dry-run=server"),
    "read its Lease": ("get", f"--raw={LEASES}/hyperfleet-adapter-{CONTROL_PLANE}"),
}
DENIED = {
    "read the certificate of its Jobs": ("get", "secret", "maestro-client-tls", f"--namespace={JOBS}"),
    "list the secrets of its Jobs": ("get", "secrets", f"--namespace={JOBS}"),
    "read its own secrets": ("get", "secret", "hyperfleet-rabbitmq", f"--namespace={SYSTEM}"),
    "create a secret": ("create", "secret", "generic", "s", f"--namespace={JOBS}", "--dry-run=server"),
    "read configmaps": ("get", "configmaps", f"--namespace={SYSTEM}"),
    "read the configmaps of its Jobs": ("get", "configmaps", f"--namespace={JOBS}"),
    "read the pods of its Jobs": ("get", "pods", f"--namespace={JOBS}"),
    "create a pod": ("run", "pod", "--image=x", f"--namespace={JOBS}", "--dry-run=server"),
    "run a command in a pod": ("get", f"--raw=/api/v1/namespaces/{JOBS}/pods/p/exec?command=true"),
    "make a token of its Jobs' account": ("create", "token", "maestro-adapter-sa", f"--namespace={JOBS}"),
    "give itself a right": ("create", "rolebinding", "r", "--clusterrole=admin", "--user=u", f"--namespace={JOBS}"),
    "read Jobs of other namespaces": ("get", "jobs", "--namespace=default"),
    "read Jobs of all namespaces": ("get", "jobs", "--all-namespaces"),
    "create Jobs elsewhere": ("create", "job", "one", "--image=x", "--namespace=default", "--dry-run=server"),
    "create Jobs beside itself": ("create", "job", "one", "--image=x", f"--namespace={SYSTEM}", "--dry-run=server"),
    "read Leases of other namespaces": ("get", "leases", "--namespace=kube-system"),
    "read HostedClusters": ("get", "--raw=/apis/hypershift.openshift.io/v1beta1/hostedclusters"),
    "read nodes": ("get", "nodes"),
    "list namespaces": ("get", "namespaces"),
    "read secrets of other namespaces": ("get", "secrets", "--namespace=default"),
    "read secrets of all namespaces": ("get", "secrets", "--all-namespaces"),
}
# Kubectl reads an object before it patches it, and would be refused for that.
NOT_PATCHED = {
    "the status of a Job": f"/apis/batch/v1/namespaces/{JOBS}/jobs/one/status",
    "a Job elsewhere": "/apis/batch/v1/namespaces/default/jobs/one",
    "its Deployment": f"/apis/apps/v1/namespaces/{SYSTEM}/deployments/{ACCOUNT}",
    "the size of its Deployment": f"/apis/apps/v1/namespaces/{SYSTEM}/deployments/{ACCOUNT}/scale",
    "its Role": f"/apis/rbac.authorization.k8s.io/v1/namespaces/{JOBS}/roles/{ACCOUNT}",
}


@pytest.fixture
async def token(releases: Releases, kubectl: Kubectl) -> str:
    """It has the rights that the chart gives."""
    return (await kubectl("create", "token", ACCOUNT, f"--namespace={SYSTEM}")).strip()


@pytest.fixture
def dispatcher(kubectl: Kubectl, token: str) -> Kubectl:
    return kubectl.with_(f"--token={token}")


async def test_the_dispatchers_token_can_do_what_the_dispatcher_does_and_nothing_else(dispatcher: Kubectl) -> None:
    wrong = []
    for what, command in ALLOWED.items():
        try:
            await dispatcher(*command)
        except Refused as error:
            wrong.append(f"may not {what}: {error}")
    for what, command in DENIED.items():
        try:
            await dispatcher(*command)
        except Refused as error:
            if "forbidden" not in str(error).lower():
                wrong.append(f"{what} is refused for another reason: {error}")
        else:
            wrong.append(f"may {what}")
    assert wrong == []


async def test_the_dispatchers_token_patches_nothing_but_jobs(token: str, cluster: Cluster) -> None:
    server = cluster.control_plane
    trust = ssl.create_default_context(cafile=str(server.ca_file))
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/merge-patch+json"}
    async with httpx.AsyncClient(base_url=server.url, verify=trust, headers=headers, timeout=TIMEOUT) as client:
        answers = {
            what: (await client.patch(path, params={"dryRun": "All"}, json={})).status_code
            for what, path in NOT_PATCHED.items()
        }
    assert answers == dict.fromkeys(NOT_PATCHED, HTTPStatus.FORBIDDEN)
