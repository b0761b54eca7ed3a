"""What is found before anything runs: names, order, manifests that cannot be found again, secrets in clear text."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from dispatcher.config.findings import ConfigError, Finding, Severity
from dispatcher.config.loading import Loaded
from shared.languages.errors import EvaluationError
from tests.support.work_config import MAESTRO, WORK

Found = Callable[..., list[Finding]]

REFUSED, MISTAKE, ADVICE = Severity.REFUSED, Severity.MISTAKE, Severity.ADVICE

NAMESPACE = """\
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
"""
PARAMS = """\
params:
  - {name: clusterId, source: event.id}
  - {name: generation, source: event.generation}
"""
GOOD = f"""\
{PARAMS}preconditions:
  - name: getCluster
    api_call: {{method: GET, url: "/clusters/{{{{ .clusterId }}}}"}}
    capture:
      - {{name: clusterName, field: name}}
      - {{name: is_deleting, expression: "has(getCluster.deleted_time)"}}
    expression: "clusterName != '' && getCluster.generation > 0"
{NAMESPACE}    lifecycle: {{delete: {{when: {{expression: "is_deleting && !resources.?clusterNamespace.hasValue()"}}}}}}
post:
  payloads:
    - name: statusPayload
      build:
        adapter: "{{{{ .adapter.name }}}}"
        status: {{expression: 'adapter.?executionError.?phase.orValue("x")'}}
        errors: {{expression: 'adapter.?resourceErrors.?clusterNamespace.?message.orValue("")'}}
        phase: {{field: resources.clusterNamespace.status.phase}}
  post_actions:
    - name: report
      when: {{expression: "size(statusPayload) > 0"}}
      api_call: {{method: PUT, url: "/clusters/{{{{ .clusterId }}}}/statuses", body: "{{{{ .statusPayload }}}}"}}
"""


def test_a_good_configuration_has_no_errors(found: Found) -> None:
    assert [finding.rule for finding in found(GOOD)] == ["precondition-api-call"]


def expression(source: str) -> str:
    return f"{GOOD}{''}".replace("clusterName != '' && getCluster.generation > 0", source)


def payload(source: str) -> str:
    return GOOD.replace('adapter.?executionError.?phase.orValue("x")', source)


def manifest_name(source: str) -> str:
    return GOOD.replace('        name: "{{ .clusterId }}"', f"        name: '{source}'")


def repolled(source: str) -> str:
    discovery = '    discovery: {by_name: "{{ .clusterId }}"}\n'
    return GOOD.replace(discovery, f"{discovery}    repoll: {{after: ttl, when: {{expression: {source!r}}}}}\n", 1)


# The task config, then the severity, the path, the text below the caret, the message and the hint.
NAMES: dict[str, tuple[str, tuple[Severity, str, str, str, str]]] = {
    "a misspelt param in CEL": (
        expression("clusterName != '' && clusterid == 'x'"),
        (MISTAKE, "preconditions[0].expression", "clusterid", "there is no variable clusterid", "did you mean clusterId?"),
    ),
    "an unknown function": (
        expression("clusterName.lower() != ''"),
        (MISTAKE, "preconditions[0].expression", "lower", "there is no function lower", "CEL calls it lowerAscii"),
    ),
    "a wrong number of arguments": (
        expression("size(clusterName, 1) > 0"),
        (MISTAKE, "preconditions[0].expression", "size", "size does not take 2 arguments", ""),
    ),
    "resources before they are there": (
        expression("clusterName != '' && has(resources.clusterNamespace)"),
        (MISTAKE, "preconditions[0].expression", "resources", "not there yet", ""),
    ),
    "a misspelt resource": (
        payload("resources.?clusterNamepsace.hasValue()"),
        (MISTAKE, "post.payloads[0].build.status.expression", "clusterNamepsace", "there is no resource clusterNamepsace", "did you mean clusterNamespace?"),
    ),
    "a misspelt resource in brackets": (
        payload('resources["clusterNamepsace"].x'),
        (MISTAKE, "post.payloads[0].build.status.expression", '"clusterNamepsace"', "there is no resource", ""),
    ),
    "a misspelt member of adapter": (
        payload("adapter.executionstatus"),
        (MISTAKE, "post.payloads[0].build.status.expression", "executionstatus", "adapter has no executionstatus", "did you mean executionStatus?"),
    ),
    "a misspelt member of the error": (
        payload('adapter.?executionError.?reason.orValue("")'),
        (MISTAKE, "post.payloads[0].build.status.expression", "reason", "executionError has no reason", ""),
    ),
    "an error of an unknown resource": (
        payload("adapter.?resourceErrors.?other.hasValue()"),
        (MISTAKE, "post.payloads[0].build.status.expression", "other", "there is no resource other", ""),
    ),
    "the adapter's name in CEL": (
        payload("adapter.name"),
        (MISTAKE, "post.payloads[0].build.status.expression", "name", "adapter has no name in CEL", "config.adapter.name"),
    ),
    "a param in the condition of repoll, which sees the removed object alone": (
        repolled("generation > 1"),
        (MISTAKE, "resources[0].repoll.when.expression", "generation", "there is no variable generation", ""),
    ),
    "a misspelt resource in the condition of repoll": (
        repolled("has(resources.clusterNamepsace)"),
        (MISTAKE, "resources[0].repoll.when.expression", "clusterNamepsace", "there is no resource clusterNamepsace", "did you mean clusterNamespace?"),
    ),
    "a payload in CEL": (
        payload("statusPayload"),
        (MISTAKE, "post.payloads[0].build.status.expression", "statusPayload", "there is no variable", "templates see and CEL does not"),
    ),
    "params.": (
        payload("params.clusterId"),
        (MISTAKE, "post.payloads[0].build.status.expression", "params", "there is no variable params", "write the param's name alone"),
    ),
    "an unknown template variable, as Go sees it": (
        manifest_name("{{ .clusterID }}"),
        (REFUSED, "resources[0].manifest.metadata.name", ".clusterID", "there is no variable .clusterID", "did you mean .clusterId?"),
    ),
    "an unknown template variable in a pipe, as Go sees it": (
        manifest_name("{{ .clusterID | lower }}"),
        (REFUSED, "resources[0].manifest.metadata.name", ".clusterID", "there is no variable .clusterID", ""),
    ),
    "an unknown template variable that Go does not see": (
        manifest_name("{{ lower .clusterID }}"),
        (MISTAKE, "resources[0].manifest.metadata.name", ".clusterID", "there is no variable .clusterID", ""),
    ),
    "resources in a template": (
        manifest_name("{{ .resources.clusterNamespace.x }}"),
        (MISTAKE, "resources[0].manifest.metadata.name", ".resources", "there is no variable .resources", "templates see no resources"),
    ),
    "the outcome in a template": (
        manifest_name("{{ .adapter.executionStatus }}"),
        (MISTAKE, "resources[0].manifest.metadata.name", ".adapter", "adapter has no executionStatus in templates", ""),
    ),
    "a template that cannot be parsed": (
        manifest_name("{{ if .clusterId }}x"),
        (MISTAKE, "resources[0].manifest.metadata.name", "", "", ""),
    ),
    "an unknown function in a template": (
        manifest_name("{{ .clusterId | toYaml }}"),
        (MISTAKE, "resources[0].manifest.metadata.name", "toYaml", "toYaml", "sprig"),
    ),
    "a call of a param that reads a later one": (
        PARAMS.replace("params:\n", "params:\n  - name: early\n    source: {api_call: {method: GET, url: '/x/{{ .clusterId }}'}}\n") + NAMESPACE,
        (REFUSED, "params[0].source.api_call.url", ".clusterId", "there is no variable .clusterId", "is defined later, at"),
    ),
    "a param that reads a later one": (
        PARAMS.replace("params:\n", "params:\n  - name: early\n    source: {expression: clusterId}\n") + NAMESPACE,
        (MISTAKE, "params[0].source.expression", "clusterId", "there is no variable clusterId", "is defined later, at"),
    ),
    "a condition on an unknown field": (
        GOOD.replace('    expression: "clusterName != \'\' && getCluster.generation > 0"', "    conditions: [{field: clusterNam, operator: exists}, {field: clusterName, operator: exists}]"),
        (MISTAKE, "preconditions[0].conditions[0].field", "clusterNam,", "there is no variable clusterNam", "did you mean clusterName?"),
    ),
    "a path that is none": (
        GOOD.replace("{name: clusterName, field: name}", "{name: clusterName, field: 'items[?(@.a==b)]'}"),
        (MISTAKE, "preconditions[0].capture[0].field", "", "", ""),
    ),
    "a param in a capture": (
        GOOD.replace("has(getCluster.deleted_time)", "clusterId == getCluster.id"),
        (ADVICE, "preconditions[0].capture[1].expression", "clusterId", "a capture sees only the answer of its call", ""),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("task", "expected"), NAMES.values(), ids=NAMES)
def test_a_name_that_is_not_there_is_found(
    task: str, expected: tuple[Severity, str, str, str, str], found: Found
) -> None:
    severity, path, below, message, hint = expected
    findings = [finding for finding in found(task) if finding.rule != "precondition-api-call"]
    assert len(findings) == 1, [str(finding) for finding in findings]
    [finding] = findings
    assert (finding.severity, finding.place.path) == (severity, path)
    assert finding.line[finding.place.column - 1 :].startswith(below)
    assert message in finding.message
    assert hint in finding.hint


def test_the_element_of_a_range_is_not_a_variable(found: Found) -> None:
    task = f"""\
{PARAMS}resources:
  - name: a
    manifest: |
      apiVersion: v1
      kind: X
      metadata:
        annotations: {{hyperfleet.io/generation: "1"}}
      items:
      {{{{ range .clusterId }}}}- {{{{ .id }}}}{{{{ end }}}}
    discovery: {{by_name: x}}
"""
    assert found(task) == []


def test_an_adapter_with_a_mistake_runs_and_with_strict_it_does_not(loaded: Callable[..., Loaded]) -> None:
    """As in Go: an optional param may name an unknown variable; it fails when it is evaluated."""
    task = "params: [{name: a, source: {expression: 'nothing.there'}}, {name: b, source: {expression: 'size(1, 2)'}}]\n"
    found = loaded(task)
    assert [warning.severity for warning in found.warnings] == [MISTAKE, MISTAKE]
    for param in found.adapter.params:
        with pytest.raises(EvaluationError):
            param.source.program.evaluate({})  # type: ignore[union-attr]
    with pytest.raises(ConfigError):
        loaded(task, strict=True)


BROKEN = {
    "a template": (f"{PARAMS}{NAMESPACE}".replace('{by_name: "{{ .clusterId }}"}', '{by_name: "{{ .clusterId "}'), "by_name"),
    "a manifest": (f"{PARAMS}{NAMESPACE}".replace('        name: "{{ .clusterId }}"', '        name: "{{ nope }}"'), "manifest"),
}  # fmt: skip


@pytest.mark.parametrize(("task", "part"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_compiled_fails_only_when_it_is_reached(
    task: str, part: str, loaded: Callable[..., Loaded]
) -> None:
    found = loaded(task)
    assert [warning.severity for warning in found.warnings] == [MISTAKE]
    resource = found.adapter.resources[0]
    assert resource.discovery.by_name is not None
    by_name = resource.discovery.by_name
    reach: dict[str, Callable[[], object]] = {
        "manifest": lambda: resource.manifest.render({}, clock=lambda: datetime.now(UTC)),
        "by_name": lambda: by_name.evaluate({}),
    }
    with pytest.raises(EvaluationError):
        reach[part]()


# Edits of the good configuration, and what they lead to.
EDITS: dict[str, tuple[str, str, tuple[Severity, str, str]]] = {
    "a capture nobody reads": (
        "{name: clusterName, field: name}",
        "{name: clusterName, field: name}\n      - {name: extra, field: kind}",
        (ADVICE, "unused", "preconditions[0].capture[1]"),
    ),
    "a payload nobody sends": (
        "  post_actions:",
        "    - {name: extra, build: {a: b}}\n  post_actions:",
        (ADVICE, "unused", "post.payloads[1]"),
    ),
    "a name that is no variable": (
        "  - {name: generation,",
        "  - {name: cluster-name, source: event.name}\n  - {name: generation,",
        (MISTAKE, "name-breaks-cel", "params[1]"),
    ),
    "a reserved word": (
        "  - {name: generation,",
        "  - {name: namespace, source: event.name}\n  - {name: generation,",
        (ADVICE, "name-breaks-cel", "params[1]"),
    ),
    "a name that is hidden": (
        "  - {name: generation,",
        "  - {name: event, source: event.name}\n  - {name: generation,",
        (MISTAKE, "hidden-name", "params[1]"),
    ),
    "no annotation": (
        "annotations: {hyperfleet.io/generation:",
        "annotations: {hyperfleet.io/generetion:",
        (MISTAKE, "no-generation", "resources[0].manifest"),
    ),
    "a kind that is a template": (
        "kind: Namespace",
        'kind: "{{ .clusterId }}"',
        (MISTAKE, "manifest-kind", "resources[0].manifest"),
    ),
    "another name": (
        'discovery: {by_name: "{{ .clusterId }}"}',
        'discovery: {by_name: "{{ .clusterId }}-config"}',
        (MISTAKE, "discovery", "resources[0].discovery.by_name"),
    ),
    "a label that is not there": (
        'discovery: {by_name: "{{ .clusterId }}"}',
        "discovery: {by_selectors: {label_selector: {hyperfleet.io/type: x}}}",
        (MISTAKE, "discovery", 'resources[0].discovery.by_selectors.label_selector["hyperfleet.io/type"]'),
    ),
    "a label of another value": (
        'discovery: {by_name: "{{ .clusterId }}"}',
        'discovery: {by_selectors: {label_selector: {hyperfleet.io/cluster-id: "x-{{ .clusterId }}"}}}',
        (MISTAKE, "discovery", 'resources[0].discovery.by_selectors.label_selector["hyperfleet.io/cluster-id"]'),
    ),
    "another namespace": (
        'discovery: {by_name: "{{ .clusterId }}"}',
        'discovery: {by_name: "{{ .clusterId }}", namespace: b}',
        (MISTAKE, "discovery", "resources[0].discovery.namespace"),
    ),
    "an expression beside conditions": (
        '    expression: "clusterName',
        '    conditions: [{field: clusterName, operator: exists}]\n    expression: "clusterName',
        (MISTAKE, "ignored-expression", "preconditions[0].expression"),
    ),
    "a time that is none": (
        '{method: GET, url: "/clusters/{{ .clusterId }}"}',
        '{method: GET, url: "/clusters/{{ .clusterId }}", timeout: soon}',
        (MISTAKE, "timeout", "preconditions[0].api_call.timeout"),
    ),
    "a backoff that is none": (
        '{method: GET, url: "/clusters/{{ .clusterId }}"}',
        '{method: GET, url: "/clusters/{{ .clusterId }}", retry_backoff: slow}',
        (MISTAKE, "backoff", "preconditions[0].api_call.retry_backoff"),
    ),
    "a header that HTTP does not have": (
        '{method: GET, url: "/clusters/{{ .clusterId }}"}',
        '{method: GET, url: "/clusters/{{ .clusterId }}", headers: [{name: X Region, value: eu}]}',
        (MISTAKE, "invalid-value", "preconditions[0].api_call.headers[0].name"),
    ),
    "a body that is not sent": (
        '{method: GET, url: "/clusters/{{ .clusterId }}"}',
        '{method: GET, url: "/clusters/{{ .clusterId }}", body: x}',
        (MISTAKE, "unused-body", "preconditions[0].api_call.body"),
    ),
    "a key that a value does not have": (
        "phase: {field: resources.clusterNamespace.status.phase}",
        "phase: {field: resources.clusterNamespace.status.phase, defualt: x}",
        (ADVICE, "payload", "post.payloads[0].build.phase.defualt"),
    ),
    "a call without method": (
        '{method: GET, url: "/clusters/{{ .clusterId }}"}',
        '{url: "/clusters/{{ .clusterId }}"}',
        (ADVICE, "no-method", "preconditions[0].api_call"),
    ),
    "a type that is none": (
        "  - {name: generation, source: event.generation}",
        "  - {name: generation, source: event.generation, type: number}",
        (MISTAKE, "param-type", "params[1].type"),
    ),
    "a type that is not used": (
        "  - {name: generation, source: event.generation}",
        "  - {name: generation, source: {expression: event.generation}, type: int}",
        (ADVICE, "ignored", "params[1].type"),
    ),
    "a capture without a call": (
        "    expression: \"clusterName != '' && getCluster.generation > 0\"\n",
        "    expression: \"clusterName != '' && getCluster.generation > 0\"\n  - name: second\n    capture: [{name: x, field: y}]\n    expression: x == 'a'\n",
        (MISTAKE, "no-answer", "preconditions[1].capture"),
    ),
    "half a secret": (
        "  - {name: generation, source: event.generation}",
        "  - {name: generation, source: secret.ns.name}",
        (MISTAKE, "source", "params[1].source"),
    ),
    "a relative file": (
        "  - {name: generation, source: event.generation}",
        "  - {name: generation, source: {file: {path: x.txt}}}",
        (ADVICE, "relative-file", "params[1].source.file.path"),
    ),
    "a level that is none": (
        "    - name: report\n",
        "    - name: report\n      log: {message: hi, level: loud}\n",
        (MISTAKE, "log-level", "post.post_actions[0].log.level"),
    ),
    "a token in a header": (
        '{method: GET, url: "/clusters/{{ .clusterId }}"}',
        '{method: GET, url: "/clusters/{{ .clusterId }}", headers: [{name: Authorization, value: Bearer abc}]}',
        (MISTAKE, "clear-text-secret", "preconditions[0].api_call.headers[0].value"),
    ),
    "a password as a default": (
        "  - {name: generation, source: event.generation}",
        "  - {name: generation, source: event.generation}\n  - {name: dbPassword, source: env.DB, default: hunter2}",
        (MISTAKE, "clear-text-secret", "params[2].default"),
    ),
    "a Secret with its data": (
        "    lifecycle:",
        "  - name: creds\n    manifest: {apiVersion: v1, kind: Secret, metadata: {name: a, annotations: {hyperfleet.io/generation: '1'}}, stringData: {x: hunter2}}\n    discovery: {by_name: a}\n    lifecycle:",
        (MISTAKE, "clear-text-secret", "resources[1].manifest.stringData.x"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), EDITS.values(), ids=EDITS)
def test_a_change_of_the_good_configuration_is_found(
    old: str, new: str, expected: tuple[Severity, str, str], found: Found
) -> None:
    assert GOOD.count(old) == 1
    task = GOOD.replace(old, new)
    if "namespace: b" in new:
        task = task.replace("      metadata:\n", "      metadata:\n        namespace: a\n")
    findings = [finding for finding in found(task) if finding.rule != "precondition-api-call"]
    assert [(finding.severity, finding.rule, finding.place.path) for finding in findings] == [expected]
    assert not any("hunter2" in finding.explain() or "abc" in finding.explain() for finding in findings)


SECRET_LINES = [
    "params:\n  - {name: apiPassword, source: event.x, default: hunter2, typ: x}\n",
    "params:\n  - {name: apiPassword, source: event.x, default: hunter2, type: x}\n",
    "resources:\n  - name: a\n    manifest: {kind: Secret, metadata: {name: '{{ .nope }}'}, stringData: {x: hunter2}}\n    discovery: {by_name: a}\n",
]


@pytest.mark.parametrize("task", SECRET_LINES)
def test_no_finding_shows_the_secret_that_another_one_is_about(task: str, found: Found) -> None:
    findings = found(task)
    assert {"clear-text-secret"} < {finding.rule for finding in findings}
    assert not any("hunter2" in finding.explain() for finding in findings)


def test_a_required_variable_that_is_not_set_is_refused(loaded: Callable[..., Loaded]) -> None:
    task = "params: [{name: a, source: env.RUN_ID, required: true}]\n"
    with pytest.raises(ConfigError, match="RUN_ID is required and not set"):
        loaded(task, environment={"RUN_ID": ""})
    assert loaded(task, environment={"RUN_ID": "1"}).adapter.params[0].required
    assert loaded(task.replace("required", "default: x, required")).adapter.params[0].required


def test_a_work_whose_nested_objects_are_found_is_good(found: Found) -> None:
    assert found(WORK, MAESTRO) == []


WORKS: dict[str, tuple[str, str, str, str]] = {
    "a nested discovery that finds nothing": ('-config"}}', '-konfig"}}', "discovery", "resources[0].nested_discoveries[0].discovery"),
    "a nested object without generation": ('-config", annotations: {hyperfleet.io/generation: "1"}', '-config"', "no-generation", "resources[0].manifest"),
    "two names alike": ("name: byName", "name: work", "duplicate-name", "resources[0].nested_discoveries[0]"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "rule", "path"), WORKS.values(), ids=WORKS)
def test_a_work_that_cannot_be_right_is_found(old: str, new: str, rule: str, path: str, found: Found) -> None:
    assert WORK.count(old) == 1
    [finding] = found(WORK.replace(old, new), MAESTRO)
    assert (finding.severity, finding.rule, finding.place.path) == (MISTAKE, rule, path)


# Members of a resource that mean nothing where it goes, and the path of the finding.
MEANINGLESS: dict[str, tuple[str, str]] = {
    "a work is never replaced": (
        WORK.replace('    discovery: {by_name: "{{ .id }}"}\n', '    discovery: {by_name: "{{ .id }}"}\n    recreate_on_change: true\n'),
        "resources[0].recreate_on_change",
    ),
    "a work has no TTL": (
        WORK.replace("    nested_discoveries:", "    repoll: ttl\n    nested_discoveries:"),
        "resources[0].repoll",
    ),
    "a work has its own deletion policy": (
        WORK.replace("    nested_discoveries:", "    lifecycle: {delete: {when: {expression: 'false'}, propagationPolicy: Orphan}}\n    nested_discoveries:"),
        "resources[0].lifecycle.delete.propagationPolicy",
    ),
    "a cluster for a resource that goes to none": (
        f"{PARAMS}{NAMESPACE}    transport: {{client: kubernetes, maestro: {{target_cluster: mc1}}}}\n",
        "resources[0].transport.maestro",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("task", "path"), MEANINGLESS.values(), ids=MEANINGLESS)
def test_a_member_that_means_nothing_where_the_resource_goes_is_answered_with_advice(
    task: str, path: str, found: Found
) -> None:
    [finding] = found(task, MAESTRO)
    assert (finding.severity, finding.rule, finding.place.path) == (ADVICE, "ignored", path)


def test_a_work_is_updated_though_its_author_asks_for_a_replacement(loaded: Callable[..., Loaded]) -> None:
    """As in Go: to replace a work would delete all that it delivered."""
    task, _ = MEANINGLESS["a work is never replaced"]
    assert not loaded(task, MAESTRO).adapter.resources[0].recreate_on_change
