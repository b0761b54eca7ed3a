"""What the Job's token may do is tried on the real API server, and so is everything else: each answer is asserted.

The rights are those of `jobs/controlplane/rbac.yaml`. The same is asked of Maestro's doors, which take certificates.
"""

import socket
import ssl
from dataclasses import replace
from http import HTTPStatus

import httpx
import pytest

from lab.real.cluster.cluster import Cluster
from lab.real.cluster.maestro import ClusterMaestro
from tests.support.cluster import ACCOUNT, TIMEOUT, JobNamespace, JobTemplate, Kubectl, Refused

REPORT = "adapter-report write --condition Available=True:Ready:"


@pytest.fixture
async def token(namespace: JobNamespace, template: JobTemplate) -> str:
    """A token of the account of a Job that runs."""
    await namespace.create(replace(template, slowness=4).script("j", f"{REPORT}; sleep 600"))
    await namespace.until("j", lambda job: job.has_condition("Available", "True", "Ready"))
    return (await namespace.kubectl("create", "token", ACCOUNT)).strip()


@pytest.fixture
def reporter(namespace: JobNamespace, token: str) -> Kubectl:
    return namespace.kubectl.with_(f"--token={token}")


ALLOWED = {
    "read a Job": ("get", "job", "j"),
    "read pods": ("get", "--raw=/api/v1/namespaces/{namespace}/pods/{pod}"),
    "watch pods": ("get", "--raw=/api/v1/namespaces/{namespace}/pods?watch=1&timeoutSeconds=1"),
}
DENIED = {
    "list Jobs": ("get", "jobs"),
    "change a Job": ("annotate", "job", "j", "a=b"),
    "delete a Job": ("delete", "job", "j", "--wait=false"),
    "create a Job": ("create", "job", "other", "--image=x"),
    "read a Job's status by itself": ("get", "job", "j", "--subresource=status"),
    "list pods": ("get", "pods"),
    "delete a pod": ("delete", "pod", "{pod}", "--wait=false"),
    "run a command in a pod": ("exec", "{pod}", "--container=adapter", "--", "true"),
    "read a pod's log": ("logs", "{pod}", "--container=adapter"),
    "read secrets": ("get", "secrets"),
    "read configmaps": ("get", "configmaps"),
    "read service accounts": ("get", "serviceaccounts"),
    "make a token": ("create", "token", ACCOUNT),
    "give itself a right": ("create", "rolebinding", "more", "--clusterrole=admin", f"--serviceaccount=x:{ACCOUNT}"),
    "read Jobs elsewhere": ("get", "--raw=/apis/batch/v1/namespaces/default/jobs/j"),
    "read nodes": ("get", "nodes"),
    "read control planes": ("get", "--raw=/apis/hypershift.openshift.io/v1beta1/hostedclusters"),
}


async def test_the_reporters_token_can_do_what_the_reporter_does_and_nothing_else(
    namespace: JobNamespace, reporter: Kubectl
) -> None:
    (pod,) = await namespace.pods("j")
    names = {"namespace": namespace.name, "pod": pod["metadata"]["name"]}
    wrong = []
    for what, command in ALLOWED.items():
        try:
            await reporter(*_filled(command, names))
        except Refused as error:
            wrong.append(f"may not {what}: {error}")
    for what, command in DENIED.items():
        try:
            await reporter(*_filled(command, names))
        except Refused as error:
            if "Forbidden" not in str(error) and "forbidden" not in str(error):
                wrong.append(f"{what} is refused for another reason: {error}")
        else:
            wrong.append(f"may {what}")
    assert not wrong


async def test_the_reporters_token_may_patch_the_status_of_a_job_but_not_the_job_and_not_elsewhere(
    namespace: JobNamespace, token: str, cluster: Cluster
) -> None:
    """Kubectl has no way to patch what it may not read, so the request is made as the reporter makes it."""
    way = cluster.control_plane
    trust = ssl.create_default_context(cafile=str(way.ca_file))
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/strategic-merge-patch+json"}
    condition = {"type": "Tried", "status": "True", "reason": "Patched", "message": ""}
    here, elsewhere = (f"/apis/batch/v1/namespaces/{each}/jobs/j" for each in (namespace.name, "default"))
    async with httpx.AsyncClient(base_url=way.url, verify=trust, headers=headers, timeout=TIMEOUT) as client:
        answers = {
            path: (await client.patch(path, json={"status": {"conditions": [condition]}})).status_code
            for path in (f"{here}/status", here, f"{elsewhere}/status")
        }
    assert list(answers.values()) == [HTTPStatus.OK, HTTPStatus.FORBIDDEN, HTTPStatus.FORBIDDEN]
    assert (await namespace.job("j")).has_condition("Tried", "True", "Patched")


def _filled(command: tuple[str, ...], names: dict[str, str]) -> list[str]:
    return [each.format(**names) for each in command]


async def test_the_adapters_container_has_no_token_and_cannot_write_but_where_it_must(
    namespace: JobNamespace, template: JobTemplate
) -> None:
    probe = (
        "found=$(ls /var/run/secrets/kubernetes.io/serviceaccount 2>&1); wrote=$(touch /here 2>&1);"
        ' adapter-report write --condition Available=True:Probed:"$(id -u) | $found | $wrote | $(grep NoNewPrivs /proc/self/status)'
        ' | $(grep CapEff /proc/self/status)"'
    )
    await namespace.create(template.script("probe", probe))
    seen = await namespace.ended("probe", "CompletionsReached")
    user, found, wrote, privileges, capabilities = seen.message("Available").split(" | ")
    assert user == "65532"
    assert "No such file or directory" in found
    assert "Read-only file system" in wrote
    assert privileges.split() == ["NoNewPrivs:", "1"]
    assert set(capabilities.split()[1]) == {"0"}


async def test_the_reporter_cannot_write_the_report(namespace: JobNamespace, template: JobTemplate) -> None:
    await namespace.create(replace(template, slowness=4).script("reading", "sleep 600"))
    pod = await namespace.running_pod("reading")
    with pytest.raises(Refused, match="Read-only file system"):
        await namespace.kubectl(
            "exec", pod, "--container=status-reporter", "--", "touch", "/results/adapter-report.json"
        )


def test_maestro_rejects_clients_without_a_certificate_neither_adapters_nor_agents(maestro: ClusterMaestro) -> None:
    for address in (maestro.grpc_address, maestro.broker_address):
        trust = ssl.create_default_context(cafile=str(maestro.ca_file))
        trust.set_alpn_protocols(["h2"])
        with pytest.raises(ssl.SSLError, match="CERTIFICATE_REQUIRED"):
            _first_frame(address, trust)
        trust.load_cert_chain(maestro.client.certificate, maestro.client.key)
        assert _first_frame(address, trust), "with one it answers"


def _first_frame(address: str, trust: ssl.SSLContext) -> bytes:
    """The first frame of an HTTP/2 server after the TLS handshake."""
    host, _, port = address.partition(":")
    with (
        socket.create_connection((host, int(port)), timeout=TIMEOUT) as plain,
        trust.wrap_socket(plain, server_hostname=host) as secure,
    ):
        return secure.recv(1)
