"""However a valid configuration is damaged, it is refused with a place, or it loads and runs."""

import asyncio
import copy
import os
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from dispatcher.config.findings import Severity
from dispatcher.config.loading import inspect
from dispatcher.dryrun.reading import TimedEvent
from dispatcher.dryrun.rehearsing import Script, rehearse
from dispatcher.engine.runs import Event

MUTATIONS = 5_000 if os.environ.get("SOAK") else 300
PER_SEED = 50
ADAPTER = """\
adapter: {name: demo, version: "0.3.1"}
log: {level: info, format: json}
clients:
  hyperfleet_api:
    base_url: http://api:8000
    timeout: 10s
    retry_attempts: 3
    retry_backoff: exponential
    default_headers: {X-Region: us}
    auth: {token_path: /var/token, token_cache_ttl: 30s}
  broker: {subscription_id: s, topic: t, kinds: [Cluster]}
  maestro: {grpc_server_address: "m:8090", http_server_address: "http://m", source_id: s, insecure: true}
"""
TASK = """\
params:
  - {name: clusterId, source: event.id, type: string, required: true}
  - {name: generation, source: event.generation, type: int}
  - {name: token, source: secret.ns.creds.token}
  - {name: region, source: env.REGION, default: us-east-1}
  - name: cluster
    source:
      api_call: {method: GET, url: "/clusters/{{ .clusterId }}", timeout: 5s, headers: [{name: X-A, value: "{{ .region }}"}]}
  - {name: is_deleting, source: {expression: "has(cluster.deleted_time)"}}
  - {name: motd, source: {file: {path: /etc/hostname}}, default: none}
preconditions:
  - name: getCluster
    log: {message: "checking {{ .clusterId }}", level: debug}
    api_call: {method: GET, url: "/clusters/{{ .clusterId }}"}
    capture:
      - {name: clusterName, field: name, default: demo}
      - {name: conditions, expression: "status.?conditions.orValue([])"}
    conditions:
      - {field: clusterName, operator: notEquals, value: x}
      - {field: region, operator: in, values: [us-east-1, eu]}
  - name: ready
    expression: |
      conditions.exists(c, c.type == "Ready") ||
        size(clusterName) > 0
resources:
  - name: clusterNamespace
    manifest:
      apiVersion: v1
      kind: Namespace
      metadata:
        name: "{{ .clusterId }}"
        labels: {hyperfleet.io/cluster-id: "{{ .clusterId }}"}
        annotations: {hyperfleet.io/generation: "{{ .generation }}"}
    discovery: {by_name: "{{ .clusterId }}"}
    lifecycle:
      create: {when: {expression: "!is_deleting"}}
      delete: {when: {expression: is_deleting}, propagationPolicy: Foreground}
  - name: job
    manifest: |
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: "job-{{ .clusterId }}"
        namespace: "{{ .clusterId }}"
        labels: {hyperfleet.io/cluster-id: "{{ .clusterId }}"}
        annotations: {hyperfleet.io/generation: "{{ .generation }}"}
      {{ if eq .region "us-east-1" }}
      spec: {suspend: true}
      {{ end }}
    discovery:
      namespace: "{{ .clusterId }}"
      by_selectors: {label_selector: {hyperfleet.io/cluster-id: "{{ .clusterId }}"}}
    supersedes: lower-generations
    repoll: {after: ttl, when: {expression: 'resources.job.status.active == 0'}}
    drift: repair
  - name: work
    transport: {client: maestro, maestro: {target_cluster: mc1}}
    recreate_on_change: true
    manifest:
      apiVersion: work.open-cluster-management.io/v1
      kind: ManifestWork
      metadata: {name: "w-{{ .clusterId }}", annotations: {hyperfleet.io/generation: "{{ .generation }}"}}
      spec:
        workload:
          manifests:
            - apiVersion: v1
              kind: ConfigMap
              metadata: {name: a, annotations: {hyperfleet.io/generation: "{{ .generation }}"}}
    discovery: {by_name: "w-{{ .clusterId }}"}
    nested_discoveries:
      - {name: inner, discovery: {by_name: a}}
post:
  payloads:
    - name: statusPayload
      when: {expression: "true"}
      build:
        adapter: "{{ .adapter.name }}"
        observed_generation: {expression: generation}
        conditions:
          - type: Applied
            status: {expression: 'resources.?clusterNamespace.hasValue() ? "True" : "False"'}
            reason: {field: adapter.executionStatus, default: Unknown}
  post_actions:
    - name: report
      when: {expression: "!is_deleting || generation > 0"}
      log: {message: done}
      api_call: {method: PUT, url: "/clusters/{{ .clusterId }}/statuses", body: "{{ .statusPayload }}"}
"""
VALUES: list[Any] = [
    None, True, 0, -1, 3.5, 10**20, "", " ", "x", "{{ .clusterId }}", "{{ .nope }}", "{{", "a ==", "a.b.c[", "event.id",
    [], {}, ["x"], {"a": "b"}, {"field": "x"}, {"expression": "1"}, {"ref": "missing.yaml"}, {"ref": ".."}, "5s", "é\n\t", [[]],
    {"secret": {"namespace": "n", "name": "n", "key": "k"}}, "secret.a", "now()", "true", {"name": "x", "source": "y"},
]  # fmt: skip
TEXTS = [
    "\t",
    "{{ .x }}",
    "}",
    "]",
    ":",
    "- ",
    '"',
    "'",
    "|",
    "\n",
    " ",
    "#",
    "&a ",
    "*a",
    "<<: ",
    "---\n",
    "é",
    "\x07",
    "%",
    "!!int ",
]


def paths_of(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        found += paths_of(value, (*path, key))
    return found


def mutated_data(document: Any, rng: random.Random) -> str:
    data = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        paths = paths_of(data)
        if not paths:
            break
        *parents, last = rng.choice(paths)
        owner = data
        for step in parents:
            owner = owner[step]
        change(owner, last, data, rng)
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, default_flow_style=rng.choice([None, False]))
    return text


def change(owner: Any, last: Any, data: Any, rng: random.Random) -> None:
    kind = rng.choice(["replace", "replace", "remove", "rename", "copy", "repeat"])
    if kind == "remove":
        del owner[last]
    elif kind == "rename" and isinstance(owner, dict):
        owner[rng.choice([f"{last}s", str(last)[:-1] or "x", str(last).upper(), "name", "field"])] = owner.pop(last)
    elif kind == "repeat" and isinstance(owner, list):
        owner.append(copy.deepcopy(owner[last]))
    elif kind == "copy":
        *parents, other = rng.choice(paths_of(data))
        source = data
        for step in parents:
            source = source[step]
        owner[last] = copy.deepcopy(source[other])
    else:
        owner[last] = copy.deepcopy(rng.choice(VALUES))


def mutated_text(text: str, rng: random.Random) -> str:
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(text) + 1)
        match rng.choice(["insert", "delete", "line", "swap"]):
            case "insert":
                text = text[:at] + rng.choice(TEXTS) + text[at:]
            case "delete":
                text = text[:at] + text[at + rng.randrange(1, 6) :]
            case "line":
                lines = text.splitlines(keepends=True)
                if lines:
                    lines.pop(rng.randrange(len(lines)))
                text = "".join(lines)
            case _:
                text = text[:at] + text[at : at + 2][::-1] + text[at + 2 :]
    return text


def mutation(rng: random.Random) -> tuple[str, str]:
    """An adapter config and a task config; mostly the task config is damaged."""
    adapter, task = ADAPTER, TASK
    damage = mutated_text if rng.random() < 0.4 else lambda text, rng: mutated_data(yaml.safe_load(text), rng)
    if rng.random() < 0.2:
        adapter = damage(adapter, rng)
    else:
        task = damage(task, rng)
    return adapter, task


EVENT = Event(
    id="1", type="t", source="s", data={"id": "c1", "kind": "Cluster", "href": "/clusters/c1", "generation": 5}
)
NOW = datetime(2030, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize("seed", range(MUTATIONS // PER_SEED))
def test_a_damaged_configuration_is_refused_with_a_place_or_runs(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    adapter_file, task_file = tmp_path / "adapter.yaml", tmp_path / "task.yaml"
    for _ in range(PER_SEED):
        adapter, task = mutation(rng)
        adapter_file.write_text(adapter)
        task_file.write_text(task)
        inspection = inspect(adapter_file, task_file, environment={})
        lines = {str(adapter_file): adapter.split("\n"), str(task_file): task.split("\n")}
        for finding in inspection.findings:
            written = lines[finding.place.file]
            assert 1 <= finding.place.line <= len(written)
            assert 1 <= finding.place.column <= len(written[finding.place.line - 1]) + 1
            assert finding.message
            assert finding.explain()
        if inspection.loaded is None:
            assert any(finding.severity is Severity.REFUSED for finding in inspection.findings)
        else:
            script = Script(events=(TimedEvent(event=EVENT),), now=NOW)
            assert asyncio.run(rehearse(inspection.loaded.adapter, script))


def test_the_configuration_that_is_damaged_is_valid(tmp_path: Path) -> None:
    (tmp_path / "adapter.yaml").write_text(ADAPTER)
    (tmp_path / "task.yaml").write_text(TASK)
    inspection = inspect(tmp_path / "adapter.yaml", tmp_path / "task.yaml", environment={})
    assert [str(finding) for finding in inspection.findings if finding.severity is not Severity.ADVICE] == []
