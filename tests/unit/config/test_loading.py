"""From texts to an adapter the engine can run."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from dispatcher.config import compiled
from dispatcher.config.findings import ConfigError
from dispatcher.config.loading import Loaded
from dispatcher.config.manifests import StructuredManifest, TextManifest
from shared.errors import Invalid, Misconfigured

TASK = """\
params:
  - name: clusterId
    source: event.id
    type: string
    required: true
  - name: generation
    source: {expression: "event.generation"}
  - name: region
    source: env.REGION
    default: us-east-1
preconditions:
  - name: getCluster
    api_call:
      method: GET
      url: "/clusters/{{ .clusterId }}"
      timeout: 10s
    capture:
      - name: is_deleting
        expression: "has(getCluster.deleted_time)"
      - {name: clusterName, field: name, default: null}
    conditions:
      - {field: clusterName, operator: in, values: [a, b]}
resources:
  - name: clusterNamespace
    manifest:
      apiVersion: v1
      kind: Namespace
      metadata:
        name: "{{ .clusterId }}"
        annotations: {hyperfleet.io/generation: "{{ .generation }}"}
    discovery: {by_name: "{{ .clusterId }}"}
    lifecycle:
      delete: {when: {expression: is_deleting}, propagationPolicy: Foreground}
post:
  payloads:
    - name: statusPayload
      build:
        adapter: "{{ .adapter.name }}"
        observed_generation: {expression: generation}
        conditions:
          - {type: Applied, status: {field: clusterName, default: "False"}}
  post_actions:
    - name: report
      api_call: {method: PUT, url: "/clusters/{{ .clusterId }}/statuses", body: "{{ .statusPayload }}"}
"""


def now() -> datetime:
    return datetime(2030, 1, 2, tzinfo=UTC)


def test_every_phase_is_compiled(loaded: Callable[..., Loaded]) -> None:
    adapter = loaded(TASK).adapter
    assert [param.source for param in adapter.params][0::2] == [
        compiled.EventSource(("id",)),
        compiled.EnvSource("REGION"),
    ]
    precondition = adapter.preconditions[0]
    assert precondition.api_call is not None
    assert precondition.api_call.url.evaluate({"clusterId": "c1"}) == "/clusters/c1"
    assert precondition.api_call.timeout == 10.0
    assert [capture.default for capture in precondition.captures] == [compiled.ABSENT, None]
    assert precondition.conditions[0].value == ["a", "b"]
    resource = adapter.resources[0]
    assert (resource.manifest.api_version, resource.manifest.kind) == ("v1", "Namespace")
    assert resource.propagation_policy == "Foreground"
    assert resource.delete_when is not None
    assert resource.delete_when.evaluate({"is_deleting": True}) is True
    assert adapter.post_actions[0].payloads == {"statusPayload"}


def test_a_payload_is_a_tree_of_texts_and_value_definitions(loaded: Callable[..., Loaded]) -> None:
    build = loaded(TASK).adapter.payloads[0].build
    assert isinstance(build, compiled.MapNode)
    (_, adapter), (_, generation), (_, conditions) = build.entries
    assert isinstance(adapter, compiled.TextNode)
    assert isinstance(generation, compiled.ValueNode)
    assert generation.default is compiled.ABSENT
    assert isinstance(conditions, compiled.ListNode)
    condition = conditions.elements[0]
    assert isinstance(condition, compiled.MapNode)
    assert isinstance(condition.entries[0][1], compiled.Constant)


def test_values_know_where_they_were_written(loaded: Callable[..., Loaded]) -> None:
    adapter = loaded(TASK).adapter
    assert (adapter.params[1].place.line, adapter.params[1].place.column) == (6, 5)
    assert adapter.params[1].place.path == "params[1]"


SOURCES = {
    "event.owner_references.id": compiled.EventSource(("owner_references", "id")),
    "env.REGION": compiled.EnvSource("REGION"),
    "config.clients.broker.topic": compiled.ConfigSource(("clients", "broker", "topic")),
    "earlier.spec.name": compiled.PathSource(("earlier", "spec", "name")),
    "id": compiled.PathSource(("id",)),
    "secret.ns.pull-secret.config.json": compiled.ObjectKeySource("Secret", "ns", "pull-secret", "config.json"),
    "configmap.ns.settings.region": compiled.ObjectKeySource("ConfigMap", "ns", "settings", "region"),
    "{secret: {namespace: ns, name: a.b, key: k}}": compiled.ObjectKeySource("Secret", "ns", "a.b", "k"),
    "{configmap: {namespace: ns, name: a.b, key: k}}": compiled.ObjectKeySource("ConfigMap", "ns", "a.b", "k"),
}


@pytest.mark.parametrize(("written", "source"), SOURCES.items(), ids=SOURCES)
def test_a_source_says_where_a_param_comes_from(
    written: str, source: compiled.ParamSource, loaded: Callable[..., Loaded]
) -> None:
    task = f"params:\n  - {{name: earlier, source: event.id}}\n  - name: x\n    source: {written}\n"
    assert loaded(task).adapter.params[1].source == source


def test_an_earlier_param_called_secret_is_not_a_secret(loaded: Callable[..., Loaded]) -> None:
    task = "params:\n  - {name: secret, source: event.id}\n  - {name: x, source: secret.a.b.c}\n"
    assert loaded(task).adapter.params[1].source == compiled.PathSource(("secret", "a", "b", "c"))


def resource(manifest: str) -> str:
    indented = manifest.replace("\n", "\n      ")
    return f"""\
params: [{{name: id, source: event.id}}, {{name: big, source: event.kind}}]
resources:
  - name: thing
    manifest: {indented}
    discovery: {{by_name: "x"}}
"""


def rendered(task: str, loaded: Callable[..., Loaded], **variables: Any) -> tuple[type, dict[str, Any]]:
    manifest = loaded(task).adapter.resources[0].manifest
    return type(manifest), manifest.render(variables, clock=now)


def test_a_mapping_is_rendered_as_a_structure(loaded: Callable[..., Loaded]) -> None:
    task = resource('\napiVersion: v1\nkind: ConfigMap\ndata: {a: "{{ .id }}", n: 5}')
    assert rendered(task, loaded, id='x": y') == (
        StructuredManifest,
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": 'x": y', "n": 5}},
    )


def test_a_block_whose_actions_stand_in_quotes_is_rendered_as_a_structure(loaded: Callable[..., Loaded]) -> None:
    task = resource('|\napiVersion: v1\nkind: ConfigMap\ndata: {a: "{{ .id }}"}')
    form, manifest = rendered(task, loaded, id='{"json": true}')
    assert form is StructuredManifest
    assert manifest["data"] == {"a": '{"json": true}'}


DIRECTIVES = {
    "a branch": "|\napiVersion: v1\nkind: ConfigMap\n{{ if .big }}\ndata: {a: b}\n{{ end }}",
    "an unquoted value": "|\napiVersion: v1\nkind: ConfigMap\ndata:\n  a: {{ .id }}",
    "an action in a comment": '|\napiVersion: v1\nkind: ConfigMap\n# {{ .id }}\ndata: {a: "{{ .id }}"}',
    "a variable that reaches from one value to another": '|\napiVersion: v1\nkind: ConfigMap\ndata:\n  a: "{{ $x := .id }}"\n  b: "{{ $x }}"',
}


@pytest.mark.parametrize("manifest", DIRECTIVES.values(), ids=DIRECTIVES)
def test_a_block_with_directives_is_rendered_and_then_read(manifest: str, loaded: Callable[..., Loaded]) -> None:
    form, result = rendered(resource(manifest), loaded, id="c1", big=True)
    assert form is TextManifest
    assert (result["apiVersion"], result["kind"]) == ("v1", "ConfigMap")
    assert "data" in result


def test_a_file_is_rendered_like_a_block(loaded: Callable[..., Loaded], write: Callable[[str, str], object]) -> None:
    write("job.yaml", "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j-{{ .id }}\n")
    form, manifest = rendered(resource("{ref: job.yaml}"), loaded, id=7)
    assert form is TextManifest
    assert manifest["metadata"] == {"name": "j-7"}


@pytest.mark.parametrize("broken", ["a: [", "- a", "", "a: *b"])
def test_a_rendered_text_that_is_no_object_is_refused(broken: str, loaded: Callable[..., Loaded]) -> None:
    task = resource("|\n{{ .id }}")
    with pytest.raises(Invalid, match="the rendered manifest"):
        rendered(task, loaded, id=broken)


def test_jobs_are_watched_and_others_only_where_it_is_asked_for(loaded: Callable[..., Loaded]) -> None:
    job = resource("{apiVersion: batch/v1, kind: Job}")
    assert loaded(job).adapter.resources[0].watch
    assert not loaded(f"{job}    watch: false\n").adapter.resources[0].watch
    namespace = resource("{apiVersion: v1, kind: Namespace}")
    assert not loaded(namespace).adapter.resources[0].watch
    assert loaded(f"{namespace}    watch: true\n").adapter.resources[0].watch


def test_our_own_settings_of_a_resource(loaded: Callable[..., Loaded]) -> None:
    task = resource("{apiVersion: batch/v1, kind: Job}")
    task += "    repoll: ttl\n    drift: repair\n    supersedes: lower-generations\n"
    found = loaded(task).adapter.resources[0]
    assert found.repoll == compiled.Repoll()
    assert found.repair_drift
    assert found.supersedes_lower_generations


def test_repoll_may_depend_on_the_job_that_is_gone(loaded: Callable[..., Loaded]) -> None:
    task = resource("{apiVersion: batch/v1, kind: Job}")
    task += "    repoll: {after: ttl, when: {expression: 'resources.thing.kind == \"Job\"'}}\n"
    repoll = loaded(task).adapter.resources[0].repoll
    assert repoll is not None
    assert repoll.when is not None
    assert repoll.when.evaluate({"resources": {"thing": {"kind": "Job"}}}) is True


def test_the_transport_is_chosen_for_each_resource(loaded: Callable[..., Loaded]) -> None:
    task = resource("{apiVersion: work.open-cluster-management.io/v1, kind: ManifestWork}")
    task += "    transport: {client: maestro, maestro: {target_cluster: '{{ .id }}'}}\n"
    found = loaded(task).adapter.resources[0]
    assert found.transport == "maestro"
    assert found.target_cluster is not None
    assert found.target_cluster.evaluate({"id": "mc1"}) == "mc1"


def test_both_files_are_one_configuration_without_secrets(loaded: Callable[..., Loaded]) -> None:
    adapter = """\
        adapter: {name: demo, version: 0.10}
        clients:
          hyperfleet_api:
            base_url: http://api:8000
            default_headers: {Authorization: Bearer abc}
          maestro: {auth: {tls_config: {ca_file: /ca.crt}}}
    """
    found = loaded("params: [{name: id, source: event.id}]", adapter).adapter
    assert found.version == "0.10"
    assert found.config["clients"]["hyperfleet_api"]["timeout"] == "10s"
    assert found.config["clients"]["hyperfleet_api"]["default_headers"] == {"Authorization": "Bearer abc"}
    assert found.config["params"] == [{"name": "id", "source": "event.id"}]
    clients = found.redacted_config["clients"]
    assert clients["hyperfleet_api"]["default_headers"] == {"Authorization": "**REDACTED**"}
    assert clients["maestro"]["auth"]["tls_config"] == {"ca_file": "**REDACTED**"}


def test_all_that_is_wrong_is_in_one_error(loaded: Callable[..., Loaded]) -> None:
    with pytest.raises(ConfigError) as refused:
        loaded("params: [{name: a}]\nresource: []\n", "adapter: {}\nclients: {mastro: {}}\n")
    assert isinstance(refused.value, Misconfigured)
    assert [(finding.place.path, finding.rule) for finding in refused.value.findings] == [
        ("adapter.name", "missing-key"),
        ("clients.mastro", "unknown-key"),
        ("params[0].source", "missing-key"),
        ("resource", "unknown-key"),
    ]
    assert "did you mean maestro?" in refused.value.explain()
