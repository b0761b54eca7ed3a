"""Blocks of the first design documents are recognised, and shown as they are written today."""

from collections.abc import Callable

import pytest
import yaml

from dispatcher.config.findings import Finding, Severity
from dispatcher.config.loading import Inspection

Found = Callable[..., list[Finding]]

# The old block, the place of the first old key, and the block of today.
BLOCKS: dict[str, tuple[str, tuple[str, int, int], str]] = {
    "a precondition with apiCall and as": (
        """\
preconditions:
  - name: fetch_cluster
    apiCall:
      method: GET
      endpoint: "{{ .hyperfleetApiBaseUrl }}/api/v1/clusters/{{ .event.id }}"
    capture:
      - as: phase
        field: status.phase
    expression: phase == 'Ready'
""",
        ("preconditions[0].apiCall", 3, 5),
        """\
- name: fetch_cluster
  api_call:
    method: GET
    url: /clusters/{{ .event.id }}
  capture:
    - name: phase
      field: status.phase
  expression: phase == 'Ready'
""",
    ),
    "postActions beside post": (
        """\
postActions:
  - name: report
    apiCall: {method: POST, url: "/clusters/{{ .event.id }}/statuses", body: "{}"}
""",
        ("postActions", 1, 1),
        """\
post:
  post_actions:
    - name: report
      api_call: {method: PUT, url: "/clusters/{{ .event.id }}/statuses", body: "{}"}
""",
    ),
    "a capture with as": (
        """\
preconditions:
  - name: fetch
    api_call: {method: GET, url: /clusters/x}
    capture: [{as: phase, field: status.phase}]
    expression: phase == 'Ready'
""",
        ("preconditions[0].capture[0].as", 4, 16),
        """\
- name: fetch
  api_call: {method: GET, url: /clusters/x}
  capture: [{name: phase, field: status.phase}]
  expression: phase == 'Ready'
""",
    ),
    "a resource that is the object itself": (
        """\
params: [{name: generation, source: event.generation}]
resources:
  - kind: HostedCluster
    apiVersion: hypershift.openshift.io/v1beta1
    namespace: clusters
    name: "{{ .event.id }}"
    spec: {infraID: "{{ .event.id }}"}
""",
        ("resources[0].kind", 3, 5),
        """\
- name: hostedCluster
  manifest:
    apiVersion: hypershift.openshift.io/v1beta1
    kind: HostedCluster
    metadata:
      name: "{{ .event.id }}"
      namespace: clusters
      annotations: {hyperfleet.io/generation: "{{ .generation }}"}
    spec: {infraID: "{{ .event.id }}"}
  discovery: {namespace: clusters, by_name: "{{ .event.id }}"}
""",
    ),
    "a resource with backend and targetCluster": (
        """\
params: [{name: generation, source: event.generation}]
resources:
  - name: hostedCluster
    backend: maestro
    targetCluster: mc1
    manifest:
      apiVersion: hypershift.openshift.io/v1beta1
      kind: HostedCluster
      metadata: {name: demo, annotations: {hyperfleet.io/generation: "{{ .generation }}"}}
""",
        ("resources[0].backend", 4, 5),
        """\
- name: hostedCluster
  transport: {client: maestro, maestro: {target_cluster: mc1}}
  manifest:
    apiVersion: work.open-cluster-management.io/v1
    kind: ManifestWork
    metadata: {name: demo, annotations: {hyperfleet.io/generation: "{{ .generation }}"}}
    spec:
      workload:
        manifests:
          - apiVersion: hypershift.openshift.io/v1beta1
            kind: HostedCluster
            metadata: {name: demo, annotations: {hyperfleet.io/generation: "{{ .generation }}"}}
  discovery: {by_name: demo}
""",
    ),
    "parameters and postActions": (
        """\
post:
  parameters:
    - {name: statusPayload, build: {adapter: x}}
  postActions:
    - type: api_call
      method: POST
      endpoint: "{{ .base }}/api/{{ .version }}/clusters/{{ .event.id }}/statuses"
      body: "{{ .statusPayload }}"
""",
        ("post.parameters", 2, 3),
        """\
payloads:
  - {name: statusPayload, build: {adapter: x}}
post_actions:
  - name: reportStatus
    api_call: {method: PUT, url: "/clusters/{{ .event.id }}/statuses", body: "{{ .statusPayload }}"}
""",
    ),
    "keys in camel case": (
        """\
resources:
  - name: work
    transport: {client: maestro, maestro: {targetCluster: mc1}}
    manifest:
      apiVersion: work.open-cluster-management.io/v1
      kind: ManifestWork
      metadata: {name: w, labels: {byName: x}, annotations: {hyperfleet.io/generation: "1"}}
      spec: {workload: {manifests: [{apiVersion: v1, kind: X, metadata: {name: i, annotations: {hyperfleet.io/generation: "1"}}}]}}
    discovery: {bySelectors: {labelSelector: {byName: x}}}
    nestedDiscoveries: [{name: inner, discovery: {byName: i}}]
""",
        ("resources[0].transport.maestro.targetCluster", 3, 44),
        """\
- name: work
  transport: {client: maestro, maestro: {target_cluster: mc1}}
  manifest:
    apiVersion: work.open-cluster-management.io/v1
    kind: ManifestWork
    metadata: {name: w, labels: {byName: x}, annotations: {hyperfleet.io/generation: "1"}}
    spec: {workload: {manifests: [{apiVersion: v1, kind: X, metadata: {name: i, annotations: {hyperfleet.io/generation: "1"}}}]}}
  discovery: {by_selectors: {label_selector: {byName: x}}}
  nested_discoveries: [{name: inner, discovery: {by_name: i}}]
""",
    ),
    "a post action with apiCall": (
        """\
post:
  payloads: [{name: statusPayload, build: {adapter: x}}]
  postActions:
    - name: report
      apiCall: {method: POST, url: "/clusters/x/statuses", body: "{{ .statusPayload }}"}
""",
        ("post.postActions", 3, 3),
        """\
payloads: [{name: statusPayload, build: {adapter: x}}]
post_actions:
  - name: report
    api_call: {method: PUT, url: "/clusters/x/statuses", body: "{{ .statusPayload }}"}
""",
    ),
    "an envelope": (
        """\
apiVersion: hyperfleet.redhat.com/v1alpha1
kind: AdapterConfig
metadata: {name: demo}
spec:
  params: [{name: id, source: event.id}]
""",
        ("spec", 4, 1),
        "params: [{name: id, source: event.id}]\n",
    ),
}

MAESTRO = """\
adapter: {name: demo}
clients:
  maestro: {grpc_server_address: "m:8090", http_server_address: "http://m:8000", source_id: s, insecure: true}
"""


@pytest.mark.parametrize(("task", "place", "modern"), BLOCKS.values(), ids=BLOCKS)
def test_an_old_block_is_refused_with_its_modern_form(
    task: str, place: tuple[str, int, int], modern: str, found: Found
) -> None:
    [finding] = [finding for finding in found(task, MAESTRO) if finding.severity is not Severity.ADVICE]
    assert (finding.place.path, finding.place.line, finding.place.column) == place
    assert (finding.severity, finding.rule) == (Severity.REFUSED, "old-spelling")
    heading, _, shown = finding.hint.partition("\n")
    assert heading == "today this block is written:"
    assert yaml.safe_load(shown) == yaml.safe_load(modern)


@pytest.mark.parametrize(("task", "modern"), [(task, modern) for task, _, modern in BLOCKS.values()], ids=BLOCKS)
def test_the_modern_form_is_accepted(task: str, modern: str, inspected: Callable[..., Inspection]) -> None:
    written = yaml.safe_load(task)
    section = next(iter(key for key in ("preconditions", "resources", "post") if key in written), None)
    document = {**written, section: yaml.safe_load(modern)} if section else yaml.safe_load(modern)
    inspection = inspected(yaml.safe_dump(document), MAESTRO)
    assert inspection.loaded is not None
    assert [finding for finding in inspection.findings if finding.severity is not Severity.ADVICE] == []


def test_what_else_is_wrong_in_an_old_block_is_found_too(found: Found) -> None:
    task, _, _ = BLOCKS["a precondition with apiCall and as"]
    findings = found(task.replace("phase == 'Ready'", "phase ?? 'Ready'"))
    assert [(finding.rule, finding.place.line) for finding in findings if finding.severity is Severity.REFUSED] == [
        ("old-spelling", 3),
        ("cel", 9),
    ]


def test_an_adapter_config_in_an_envelope_is_shown_without_it(found: Found) -> None:
    adapter = """\
apiVersion: hyperfleet.redhat.com/v1alpha1
kind: AdapterConfig
metadata: {name: demo}
spec:
  adapter: {version: "0.1.0"}
  clients: {hyperfleetApi: {baseUrl: "http://api", retryAttempts: 3}}
"""
    [finding] = found(adapter=adapter)
    assert (finding.rule, finding.place.line) == ("old-spelling", 4)
    assert yaml.safe_load(finding.hint.partition("\n")[2]) == {
        "adapter": {"name": "demo", "version": "0.1.0"},
        "clients": {"hyperfleet_api": {"base_url": "http://api", "retry_attempts": 3}},
    }
