"""Go templates: compiling and rendering what real adapters write, and what variables nobody reads cost.

The budget is 25 µs for the median rendering of a text of one or two actions, as in URLs, headers and names; a
manifest has as many actions as it has. Each is measured with small variables and again with ten megabytes beside what
it reads: the ratio of the two must stay at one.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

from shared.languages.gotemplate import compile_structure, compile_template

BUDGET_US = 25.0
ROUNDS, PER_ROUND = 21, 100

TEXTS = [
    "/api/hyperfleet/v1/clusters/{{ .clusterId }}",
    "/api/hyperfleet/v1/clusters/{{ .clusterId }}/nodepools/{{ .nodepoolId }}/statuses",
    "{{ .adapter.name }}",
    "{{ .clusterId | lower }}-config",
    "{{ .generation }}",
    '{{ .region | default "us-east-1" }}',
    '{{ now | date "2006-01-02T15:04:05Z07:00" }}',
    "{{ .statusPayload }}",
    '{{ if eq .platformType "gcp" }}cloud{{ else }}onprem{{ end }}',
    '{{ printf "%s-%05d" .clusterId .generation }}',
]

BLOCK = """apiVersion: v1
kind: ConfigMap
metadata:
  name: "{{ .clusterId }}-config"
  annotations:
    hyperfleet.io/generation: "{{ .generation }}"
data:
  cluster_id: "{{ .clusterId }}"
  {{- if eq .platformType "gcp" }}
  platform_tier: "cloud"
  {{- else }}
  platform_tier: "onprem"
  {{- end }}
  {{- range $i, $subnet := .subnets }}
  subnet_{{ $subnet.id }}_name: "{{ $subnet.name }}"
  subnet_{{ $subnet.id }}_cidr: "{{ $subnet.cidr }}"
  {{- end }}
"""

MANIFEST = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {
        "name": "{{ .clusterId | lower }}",
        "labels": {
            "hyperfleet.io/cluster-id": "{{ .clusterId }}",
            "hyperfleet.io/managed-by": "{{ .adapter.name }}",
            "hyperfleet.io/resource-type": "namespace",
        },
        "annotations": {"hyperfleet.io/generation": "{{ .generation }}"},
    },
}


def main() -> None:
    small = _variables()
    large = small | {"payload": [{"key": f"k{i}", "text": "x" * 80} for i in range(100_000)]}
    print("\nGo templates: median CPU microseconds; `beside 10 MB` renders where the variables hold 10 MB more\n")
    print(f"{'compile':>9} {'render':>9} {'beside 10 MB':>13} {'ratio':>6}  template")
    slowest = max(_text(source, small, large) for source in TEXTS)
    _text(BLOCK, small, large, "a ConfigMap as a block with if and range over two subnets")
    structure = compile_structure(MANIFEST)
    _row(
        lambda: compile_structure(MANIFEST),
        lambda: structure.render(small),
        lambda: structure.render(large),
        "a Namespace manifest as a structure",
    )
    verdict = "within" if slowest <= BUDGET_US else "OVER"
    print(f"\nslowest short text {slowest:.1f} µs, {verdict} the budget of {BUDGET_US:.0f} µs")


def _text(source: str, small: dict[str, Any], large: dict[str, Any], name: str | None = None) -> float:
    template = compile_template(source)
    return _row(
        lambda: compile_template(source),
        lambda: template.evaluate(small),
        lambda: template.evaluate(large),
        name or source,
    )


def _row(compiling: Callable[[], object], small: Callable[[], object], large: Callable[[], object], name: str) -> float:
    compiled, rendered, beside = _microseconds(compiling), _microseconds(small), _microseconds(large)
    print(f"{compiled:9.1f} {rendered:9.1f} {beside:13.1f} {beside / rendered:6.2f}  {name}")
    return rendered


def _variables() -> dict[str, Any]:
    return {
        "adapter": {"name": "landing-zone", "version": "1.2.0"},
        "clusterId": "0199A0B1-7C2D-7E3F-8A4B-5C6D7E8F9A0B",
        "nodepoolId": "np-1",
        "generation": 1234567,
        "region": "",
        "platformType": "gcp",
        "statusPayload": '{"conditions": []}' * 100,
        "subnets": [{"id": i, "name": f"subnet-{i}", "cidr": f"10.0.{i}.0/24"} for i in range(2)],
    }


def _microseconds(work: Callable[[], object]) -> float:
    rounds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for _ in range(PER_ROUND):
            work()
        rounds.append((time.process_time() - started) / PER_ROUND * 1e6)
    return statistics.median(rounds)


if __name__ == "__main__":
    main()
