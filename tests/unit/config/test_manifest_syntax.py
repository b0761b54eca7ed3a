"""Manifests written as text: what can never be YAML is found before an event comes, and nothing else."""

from collections.abc import Callable

import pytest

from dispatcher.config.findings import Finding, Severity

Found = Callable[..., list[Finding]]

MISTAKE = Severity.MISTAKE
PARAMS = """\
params:
  - {name: clusterId, source: event.id}
  - {name: generation, source: event.generation}
"""


def text_manifest(text: str) -> str:
    indented = text.replace("\n", "\n      ")
    head = "apiVersion: v1\n      kind: X\n      metadata: {name: x, annotations: {hyperfleet.io/generation: '1'}}"
    return f"{PARAMS}resources:\n  - name: a\n    manifest: |\n      {head}\n      {indented}\n    discovery: {{by_name: x}}\n"


# A manifest as text; the rule, the line of the task config and the text at the column.
NOT_YAML: dict[str, tuple[str, tuple[str, int, str]]] = {
    "indentation": ("spec:\n  a: 1\n b: 2", ("not-yaml", 12, "b: 2")),
    "indentation beside an action": ("spec:\n  a: {{ .clusterId }}\n b: 2", ("not-yaml", 12, "b: 2")),
    "a colon behind an action": ('spec: {{ .clusterId }}: "x"', ("not-yaml", 10, ': "x"')),
    "a quote that is not closed": ('spec: "{{ .clusterId }}\nb: 1', ("not-yaml", 0, "")),
    "a key twice": ("a: {{ .clusterId }}\na: 2", ("duplicate-key", 11, "a: 2")),
    "a key with an action twice": ("x-{{ .clusterId }}: 1\nx-{{ .clusterId }}: 2", ("duplicate-key", 11, "x-")),
}


@pytest.mark.parametrize(("text", "expected"), NOT_YAML.values(), ids=NOT_YAML)
def test_a_manifest_that_can_never_be_yaml_is_found(text: str, expected: tuple[str, int, str], found: Found) -> None:
    findings = found(text_manifest(text))
    assert [finding.severity for finding in findings] == [MISTAKE], [str(finding) for finding in findings]
    rule, line, below = expected
    [finding] = findings
    assert (finding.rule, finding.place.path) == (rule, "resources[0].manifest")
    if line:
        assert finding.place.line == line
        assert finding.line[finding.place.column - 1 :].startswith(below)


PERHAPS_YAML = [
    "x-{{ .clusterId }}: 1\nx-{{ .generation }}: 2",
    "spec: {{/* nothing yet */}}\n  a: 1",
    "spec: {{ $id := .clusterId }}\n  a: {{ $id }}",
    "spec: {{ if .clusterId }}\n  a: 1{{ end }}",
    "{{ .clusterId }}\nspec: {a: {{ .clusterId }}}",
    "spec: [{{ .clusterId }}]\n# {{ .clusterId }}: {",
    "spec: {{- .clusterId }}: {{ .clusterId }}",
]


@pytest.mark.parametrize("text", PERHAPS_YAML)
def test_a_manifest_that_may_become_yaml_is_left_to_the_run(text: str, found: Found) -> None:
    assert found(text_manifest(text)) == []


def test_a_file_that_can_never_be_yaml_is_found_in_its_own_place(found: Found, write: Callable[..., object]) -> None:
    write("job.yaml", "apiVersion: v1\nkind: X\n# hyperfleet.io/generation\nspec: [\n")
    task = "resources: [{name: a, manifest: {ref: job.yaml}, discovery: {by_name: x}}]\n"
    [finding] = found(task)
    assert (finding.rule, finding.severity) == ("not-yaml", MISTAKE)
    assert str(finding.place).endswith("job.yaml:5:1")
