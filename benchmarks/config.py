"""How long it takes to load and to check a configuration with a few hundred resources."""

import tempfile
from pathlib import Path
from statistics import median
from time import process_time

from dispatcher.config.compiling.context import compiled_cel, compiled_template
from dispatcher.config.loading import inspect

RESOURCES = 300
ROUNDS = 3
_ADAPTER = "adapter: {name: large}\nclients: {hyperfleet_api: {base_url: 'http://api:8000'}}\n"
_PARAMS = """\
params:
  - {name: clusterId, source: event.id, type: string, required: true}
  - {name: generation, source: event.generation, type: int, required: true}
  - {name: cluster, source: {api_call: {method: GET, url: "/clusters/{{ .clusterId }}"}}}
  - {name: is_deleting, source: {expression: "has(cluster.deleted_time)"}}
resources:
"""
_RESOURCE = """\
  - name: config%(n)d
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: "{{ .clusterId }}-config%(n)d"
        namespace: "{{ .clusterId }}"
        labels:
          hyperfleet.io/cluster-id: "{{ .clusterId }}"
          hyperfleet.io/managed-by: "{{ .adapter.name }}"
          hyperfleet.io/resource-type: "config%(n)d"
        annotations:
          hyperfleet.io/generation: "{{ .generation }}"
      data:
        cluster: "{{ .clusterId | lower }}"
        number: "%(n)d"
        text: "the {{ .clusterId }} of generation {{ .generation }} in config %(n)d"
    discovery:
      namespace: "{{ .clusterId }}"
      by_selectors:
        label_selector:
          hyperfleet.io/cluster-id: "{{ .clusterId }}"
          hyperfleet.io/resource-type: "config%(n)d"
    lifecycle:
      delete:
        when:
          expression: |
            is_deleting && cluster.generation == generation
              && !resources.?config%(other)d.hasValue()
"""
_POST = """\
post:
  payloads:
    - name: statusPayload
      build:
        adapter: "{{ .adapter.name }}"
        observed_generation: {expression: generation}
        data:
"""
_VALUE = """\
          config%(n)d:
            expression: |
              resources.?config%(n)d.?metadata.?name.orValue("") != "" ? "there" : "missing"
"""
_ACTIONS = """\
  post_actions:
    - name: report
      api_call: {method: PUT, url: "/clusters/{{ .clusterId }}/statuses", body: "{{ .statusPayload }}"}
"""


def large_task(resources: int) -> str:
    numbers = [{"n": number, "other": (number + 1) % resources} for number in range(resources)]
    return "".join([
        _PARAMS, *(_RESOURCE % each for each in numbers), _POST, *(_VALUE % each for each in numbers), _ACTIONS,
    ])  # fmt: skip


def main() -> None:
    task = large_task(RESOURCES)
    with tempfile.TemporaryDirectory() as folder:
        adapter_file, task_file = Path(folder, "adapter.yaml"), Path(folder, "task.yaml")
        adapter_file.write_text(_ADAPTER)
        task_file.write_text(task)
        print(f"a task config of {RESOURCES} resources, {task.count(chr(10)):,} lines ({ROUNDS} rounds)\n")
        print("| what | CPU seconds |\n|---|---|")
        for what, semantic in (("read, check the structure, compile", False), ("the same, and check names", True)):
            seconds = median(_seconds(adapter_file, task_file, semantic=semantic) for _ in range(ROUNDS))
            print(f"| {what} | {seconds:.2f} |")


def _seconds(adapter_file: Path, task_file: Path, *, semantic: bool) -> float:
    compiled_template.cache_clear()
    compiled_cel.cache_clear()
    start = process_time()
    inspection = inspect(adapter_file, task_file, environment={}, semantic=semantic)
    seconds = process_time() - start
    if inspection.findings or inspection.loaded is None:
        raise SystemExit(f"the measured configuration is not good: {inspection.findings[0]}")
    return seconds


if __name__ == "__main__":
    main()
