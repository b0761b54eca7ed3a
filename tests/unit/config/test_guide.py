"""The authors' guide: its examples load, and the one that is no valid CEL is refused where it goes wrong."""

from collections.abc import Callable

import pytest

from dispatcher.config.findings import Finding, Severity
from dispatcher.config.loading import Loaded

PARAMS = """\
params:
  - {name: clusterId, source: event.id, type: string, required: true}
  - {name: generation, source: event.generation, type: int, required: true}
  - {name: region, source: env.REGION, type: string, default: us-east-1}
"""


def test_the_example_with_a_conditional_inside_another_is_refused(
    found: Callable[..., list[Finding]], loaded: Callable[..., Loaded]
) -> None:
    """cel-go refuses it as well; with parentheses around the inner one it is accepted."""
    task = f"""\
{PARAMS}resources:
  - name: namespace0
    manifest: {{apiVersion: v1, kind: Namespace, metadata: {{name: "{{{{ .clusterId }}}}", annotations: {{hyperfleet.io/generation: "1"}}}}}}
    discovery: {{by_name: "{{{{ .clusterId }}}}"}}
post:
  payloads:
    - name: statusPayload
      build:
        status:
          expression: |
            resources.?namespace0.?statusFeedback.?values.orValue([])
              .filter(v, v.name == "phase").size() > 0
              ? resources.namespace0.statusFeedback.values
                  .filter(v, v.name == "phase")[0].fieldValue.string == "Active"
                ? "True" : "False"
              : "Unknown"
  post_actions:
    - {{name: report, api_call: {{method: PUT, url: "/clusters/{{{{ .clusterId }}}}/statuses", body: "{{{{ .statusPayload }}}}"}}}}
"""
    [finding] = found(task)
    assert finding.severity is Severity.REFUSED
    assert finding.place.path == "post.payloads[0].build.status.expression"
    assert finding.line[finding.place.column - 1 :].startswith("?")
    assert finding.line.strip() == '? "True" : "False"'
    assert "parentheses" in finding.hint
    good = task.replace("? resources.namespace0", "? (resources.namespace0").replace(
        '"True" : "False"', '"True" : "False")'
    )
    assert loaded(good).warnings == ()


EXAMPLES = {
    "a precondition without method": """\
preconditions:
  - name: clusterStatus
    api_call:
      url: "/api/hyperfleet/v1/clusters/{{ .clusterId }}"
      timeout: 10s
      retry_attempts: 3
      retry_backoff: exponential
    capture:
      - name: reconciledStatus
        expression: |
          status.conditions.filter(c, c.type == "Reconciled").size() > 0
            ? status.conditions.filter(c, c.type == "Reconciled")[0].status
            : "False"
      - {name: lzStatus, field: "{.items[?(@.adapter=='landing-zone')].data.namespace.status}"}
    expression: |
      reconciledStatus == "False" && lzStatus == "Active" && clusterStatus.spec.nodeCount > 0
""",
    "a stable cluster": """\
preconditions:
  - name: checkClusterState
    api_call: {method: GET, url: "/clusters/{{ .clusterId }}"}
    capture:
      - name: clusterReconciledTTL
        expression: |
          (timestamp(now()) - timestamp(
            status.conditions.filter(c, c.type == "Reconciled").size() > 0
              ? status.conditions.filter(c, c.type == "Reconciled")[0].last_transition_time
              : now()
          )).getSeconds() > 300
  - name: validationCheck
    expression: clusterReconciledTTL
""",
    "a block with branches": """\
resources:
  - name: clusterConfig
    transport: {client: kubernetes}
    manifest: |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: "{{ .clusterId }}-config"
        annotations:
          hyperfleet.io/generation: "{{ .generation }}"
      data:
        {{ if eq .region "us-east-1" }}
        tier: "cloud"
        {{ else }}
        tier: "onprem"
        {{ end }}
    discovery: {by_name: "{{ .clusterId }}-config"}
""",
    "a range over a list": """\
preconditions:
  - name: getCluster
    api_call: {method: GET, url: "/clusters/{{ .clusterId }}"}
    capture: [{name: subnets, expression: "has(spec.subnets) ? spec.subnets : []"}]
resources:
  - name: clusterConfig
    manifest: |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: x
        annotations: {hyperfleet.io/generation: "{{ .generation }}"}
      data:
      {{ range $i, $subnet := .subnets }}
        subnet_{{ $subnet.id }}: "{{ $subnet.cidr }}"
      {{ end }}
    discovery: {by_name: x}
""",
    "the health of a run": """\
post:
  payloads:
    - name: statusPayload
      build:
        adapter: "{{ .adapter.name }}"
        conditions:
          - type: Health
            status:
              expression: |
                adapter.?executionStatus.orValue("") == "success" && !adapter.?resourcesSkipped.orValue(false) ? "True" : "False"
            message:
              expression: |
                adapter.?executionStatus.orValue("") != "success"
                  ? "failed at [" + adapter.?executionError.?phase.orValue("unknown") + "]: "
                    + adapter.?executionError.?message.orValue(adapter.?errorMessage.orValue("no details"))
                  : adapter.?skipReason.orValue("done")
        observed_generation: {expression: generation}
        observed_time: "{{ now | date \\"2006-01-02T15:04:05Z07:00\\" }}"
  post_actions:
    - name: reportStatus
      api_call: {method: PUT, url: "/clusters/{{ .clusterId }}/statuses", body: "{{ .statusPayload }}"}
""",
    "nothing to create": "resources: []\n",
}


@pytest.mark.parametrize("task", EXAMPLES.values(), ids=EXAMPLES)
def test_an_example_loads_without_mistakes(task: str, loaded: Callable[..., Loaded]) -> None:
    warnings = loaded(PARAMS + task).warnings
    assert [str(warning) for warning in warnings if warning.severity is not Severity.ADVICE] == []
