"""Structural errors: all at once, each at its key or value, with what was expected."""

from collections.abc import Callable

import pytest

from dispatcher.config.findings import Finding, Severity
from dispatcher.config.loading import Inspection

Found = Callable[..., list[Finding]]

# one row each: the task config, and what is refused: path, line, column, message, hint.
TASKS: dict[str, tuple[str, tuple[str, int, int, str, str]]] = {
    "an unknown section": (
        "param: []\n",
        ("param", 1, 1, "there is no key 'param' here", "did you mean params?"),
    ),
    "an unknown key": (
        "params:\n  - {name: a, sorce: event.id}\n",
        ("params[0].sorce", 2, 15, "there is no key 'sorce' here", "did you mean source?"),
    ),
    "an unknown key like nothing": (
        "params:\n  - {name: a, source: event.id, zzzz: 1}\n",
        ("params[0].zzzz", 2, 33, "there is no key 'zzzz' here", "the keys are name, source, type, default, required, description"),
    ),
    "camel case": (
        "resources:\n  - {name: a, manifest: {a: b}, discovery: {ByNames: x}}\n",
        ("resources[0].discovery.ByNames", 2, 45, "there is no key 'ByNames' here", "did you mean by_name?"),
    ),
    "a missing source": (
        "params:\n  - name: a\n",
        ("params[0].source", 2, 5, "source is missing", ""),
    ),
    "a source without a value": (
        "params:\n  - name: a\n    source:\n",
        ("params[0].source", 3, 12, "source is missing", ""),
    ),
    "a blank source": (
        "params:\n  - {name: a, source: ' '}\n",
        ("params[0].source", 2, 23, "the source is blank", ""),
    ),
    "a source of two kinds": (
        "params:\n  - name: a\n    source: {expression: a, file: {path: /x}}\n",
        ("params[0].source", 3, 13, "a source has only one of expression, file", ""),
    ),
    "a source of no kind": (
        "params:\n  - name: a\n    source: {}\n",
        ("params[0].source", 3, 13, "a source has one of api_call, expression, file, secret, configmap", ""),
    ),
    "a blank expression": (
        "params:\n  - name: a\n    source: {expression: ' '}\n",
        ("params[0].source.expression", 3, 26, "the expression is empty", ""),
    ),
    "a param that is no mapping": (
        "params:\n  - clusterId\n",
        ("params[0]", 2, 5, "must be a mapping, not a text", ""),
    ),
    "params that are no list": (
        "params: {a: b}\n",
        ("params", 1, 9, "must be a list, not a mapping", ""),
    ),
    "a task config that is a list": (
        "- a\n",
        ("", 1, 1, "must be a mapping, not a list", ""),
    ),
    "an unknown method": (
        "params:\n  - name: a\n    source: {api_call: {method: GETS, url: /x}}\n",
        ("params[0].source.api_call.method", 3, 33, "'GETS' is not one of GET, POST, PUT, PATCH, DELETE", "did you mean GET?"),
    ),
    "a call without url": (
        "params:\n  - name: a\n    source: {api_call: {method: GET}}\n",
        ("params[0].source.api_call.url", 3, 24, "url is missing", ""),
    ),
    "a post action without method": (
        "post:\n  post_actions:\n    - {name: a, api_call: {url: /x}}\n",
        ("post.post_actions[0].api_call", 3, 27, "the method is missing", "add `method: PUT`"),
    ),
    "a name that breaks CEL": (
        "preconditions:\n  - {name: fetch-cluster, expression: 'true'}\n",
        ("preconditions[0].name", 2, 12, "'fetch-cluster' is no valid name", "fetchCluster"),
    ),
    "a precondition of nothing": (
        "preconditions:\n  - name: a\n",
        ("preconditions[0]", 2, 5, "needs an api_call, an expression or conditions", ""),
    ),
    "a capture of both kinds": (
        "preconditions:\n  - name: a\n    expression: 'true'\n    capture: [{name: b, field: c, expression: d}]\n",
        ("preconditions[0].capture[0].expression", 4, 47, "field and expression are mutually exclusive", "keep one of them"),
    ),
    "a capture of nothing": (
        "preconditions:\n  - name: a\n    expression: 'true'\n    capture: [{name: b}]\n",
        ("preconditions[0].capture[0]", 4, 15, "needs field or expression", ""),
    ),
    "an unknown operator": (
        "preconditions:\n  - name: a\n    conditions: [{field: b, operator: equal, value: 1}]\n",
        ("preconditions[0].conditions[0].operator", 3, 39, "'equal' is not one of equals, notEquals, in, notIn", "did you mean equals?"),
    ),
    "a value beside values": (
        "preconditions:\n  - name: a\n    conditions: [{field: b, operator: in, value: [1], values: [1]}]\n",
        ("preconditions[0].conditions[0].values", 3, 63, "value and values mean the same", "keep one of them"),
    ),
    "exists with a value": (
        "preconditions:\n  - name: a\n    conditions: [{field: b, operator: exists, value: 1}]\n",
        ("preconditions[0].conditions[0].value", 3, 54, "the operator exists takes no value", ""),
    ),
    "equals without a value": (
        "preconditions:\n  - name: a\n    conditions: [{field: b, operator: equals}]\n",
        ("preconditions[0].conditions[0]", 3, 18, "the operator equals needs a value", ""),
    ),
    "in without a list": (
        "preconditions:\n  - name: a\n    conditions: [{field: b, operator: in, value: x}]\n",
        ("preconditions[0].conditions[0].value", 3, 50, "the operator in needs a list", "write [a, b]"),
    ),
    "a resource without discovery": (
        "resources:\n  - {name: a, manifest: {apiVersion: v1, kind: X}}\n",
        ("resources[0].discovery", 2, 5, "discovery is missing", ""),
    ),
    "a resource without manifest": (
        "resources:\n  - {name: a, discovery: {by_name: x}}\n",
        ("resources[0].manifest", 2, 5, "manifest is missing", ""),
    ),
    "a manifest that is a list": (
        "resources:\n  - {name: a, manifest: [], discovery: {by_name: x}}\n",
        ("resources[0].manifest", 2, 25, "must be a mapping, a text or {ref: FILE}", ""),
    ),
    "a discovery of both kinds": (
        "resources:\n  - {name: a, manifest: {a: b}, discovery: {by_name: x, by_selectors: {label_selector: {a: b}}}}\n",
        ("resources[0].discovery.by_selectors", 2, 71, "by_name and by_selectors are mutually exclusive", ""),
    ),
    "no labels to select by": (
        "resources:\n  - {name: a, manifest: {a: b}, discovery: {by_selectors: {label_selector: {}}}}\n",
        ("resources[0].discovery.by_selectors.label_selector", 2, 76, "must not be empty", ""),
    ),
    "an unknown transport": (
        "resources:\n  - {name: a, manifest: {a: b}, discovery: {by_name: x}, transport: {client: maestr}}\n",
        ("resources[0].transport.client", 2, 78, "'maestr' is not one of kubernetes, maestro", "did you mean maestro?"),
    ),
    "maestro without a target": (
        "resources:\n  - {name: a, manifest: {a: b}, discovery: {by_name: x}, transport: {client: maestro}}\n",
        ("resources[0].transport", 2, 69, "the client maestro needs a target", ""),
    ),
    "two resources of one name": (
        "resources:\n  - &r {name: a, manifest: {apiVersion: v1, kind: X}, discovery: {by_name: x}}\n  - *r\n",
        ("resources[1].name", 2, 15, "there are two resources 'a'", ""),
    ),
    "an unknown policy": (
        "resources:\n  - {name: a, manifest: {a: b}, discovery: {by_name: x}, lifecycle: {delete: {when: {expression: 'true'}, propagationPolicy: foreground}}}\n",
        ("resources[0].lifecycle.delete.propagationPolicy", 2, 126, "'foreground' is not one of Background, Foreground, Orphan", "did you mean Foreground?"),
    ),
    "a deletion without when": (
        "resources:\n  - {name: a, manifest: {a: b}, discovery: {by_name: x}, lifecycle: {delete: {}}}\n",
        ("resources[0].lifecycle.delete.when", 2, 78, "when is missing", ""),
    ),
    "a flag that is none": (
        "resources:\n  - {name: a, manifest: {a: b}, discovery: {by_name: x}, recreate_on_change: perhaps}\n",
        ("resources[0].recreate_on_change", 2, 78, "must be true or false, not 'perhaps'", ""),
    ),
    "a payload of both kinds": (
        "post:\n  payloads:\n    - {name: a, build: {b: c}, build_ref: x.yaml}\n",
        ("post.payloads[0].build_ref", 3, 43, "build and build_ref are mutually exclusive", ""),
    ),
    "a payload of nothing": (
        "post:\n  payloads:\n    - {name: a}\n",
        ("post.payloads[0]", 3, 7, "needs build or build_ref", ""),
    ),
    "a value of both kinds": (
        "post:\n  payloads:\n    - {name: a, build: {b: {field: event, expression: event}}}\n",
        ("post.payloads[0].build.b", 3, 28, "field and expression are mutually exclusive", ""),
    ),
    "a file outside": (
        "resources:\n  - {name: a, manifest: {ref: ../x.yaml}, discovery: {by_name: x}}\n",
        ("resources[0].manifest.ref", 2, 31, "'../x.yaml' is outside of", "put it beside the task config"),
    ),
    "a file that is missing": (
        "post:\n  payloads:\n    - {name: a, build_ref: nothing.yaml}\n",
        ("post.payloads[0].build_ref", 3, 28, "nothing.yaml cannot be read: No such file", ""),
    ),
    "an empty file": (
        "# nothing\n",
        ("", 1, 1, "the file is empty", "write at least `params: []`"),
    ),
    "an expression that is none, in a block": (
        "preconditions:\n  - name: a\n    expression: |\n      event.id == 'x' &&\n        event.kind = 'y'\n",
        ("preconditions[0].expression", 5, 20, "'=' means nothing here", "compare with =="),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("task", "expected"), TASKS.values(), ids=TASKS)
def test_a_task_config_is_refused(task: str, expected: tuple[str, int, int, str, str], found: Found) -> None:
    refused = [finding for finding in found(task) if finding.severity is Severity.REFUSED]
    assert len(refused) == 1, [str(finding) for finding in refused]
    path, line, column, message, hint = expected
    place = refused[0].place
    assert (place.path, place.line, place.column) == (path, line, column)
    assert message in refused[0].message
    assert hint in refused[0].hint


ADAPTERS: dict[str, tuple[str, tuple[str, int, int, str]]] = {
    "no name": ("adapter: {}\n", ("adapter.name", 1, 10, "name is missing")),
    "nothing at all": ("", ("adapter", 1, 1, "adapter is missing")),
    "an unknown client": ("adapter: {name: a}\nclients: {hyperfleet: {}}\n", ("clients.hyperfleet", 2, 11, "there is no key 'hyperfleet' here")),
    "a relative token": (
        "adapter: {name: a}\nclients: {hyperfleet_api: {auth: {token_path: x}}}\n",
        ("clients.hyperfleet_api.auth.token_path", 2, 47, "'x' must be an absolute path"),
    ),
    "a negative time": (
        "adapter: {name: a}\nclients: {hyperfleet_api: {auth: {token_path: /x, token_cache_ttl: -1s}}}\n",
        ("clients.hyperfleet_api.auth.token_cache_ttl", 2, 68, "must not be negative"),
    ),
    "a time that is none": (
        "adapter: {name: a}\nclients: {hyperfleet_api: {timeout: soon}}\n",
        ("clients.hyperfleet_api.timeout", 2, 37, "must be a duration, not 'soon'"),
    ),
    "an unknown backoff": (
        "adapter: {name: a}\nclients: {hyperfleet_api: {retry_backoff: lineer}}\n",
        ("clients.hyperfleet_api.retry_backoff", 2, 43, "'lineer' is not one of exponential, linear, constant"),
    ),
    "an unknown form of logs": ("adapter: {name: a}\nlog: {format: xml}\n", ("log.format", 2, 15, "'xml' is not one of json, text")),
    "a number that is none": (
        "adapter: {name: a}\nclients: {kubernetes: {qps: many}}\n",
        ("clients.kubernetes.qps", 2, 29, "must be a number, not 'many'"),
    ),
    "a number beyond all numbers": (
        f"adapter: {{name: a}}\nclients: {{kubernetes: {{qps: {'9' * 350}}}}}\n",
        ("clients.kubernetes.qps", 2, 29, "must be a number, not '999"),
    ),
    "a time without end": (
        f"adapter: {{name: a}}\nclients: {{hyperfleet_api: {{timeout: {'9' * 350}d}}}}\n",
        ("clients.hyperfleet_api.timeout", 2, 37, "must be a duration, not '999"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("adapter", "expected"), ADAPTERS.values(), ids=ADAPTERS)
def test_an_adapter_config_is_refused(adapter: str, expected: tuple[str, int, int, str], found: Found) -> None:
    refused = [finding for finding in found(adapter=adapter) if finding.severity is Severity.REFUSED]
    assert len(refused) == 1, [str(finding) for finding in refused]
    path, line, column, message = expected
    place = refused[0].place
    assert (place.path, place.line, place.column) == (path, line, column)
    assert message in refused[0].message


BROKERS: dict[str, tuple[str, str, str]] = {
    "an unknown type": ("broker: {type: kafka}\n", "broker.type", "'kafka' is not one of rabbitmq, googlepubsub, embedded"),
    "a deadline too short": ("broker: {googlepubsub: {ack_deadline_seconds: 5}}\n", "broker.googlepubsub.ack_deadline_seconds", "must be at least 10"),
    "a backoff too long": ("broker: {googlepubsub: {retry_max_backoff: 601s}}\n", "broker.googlepubsub.retry_max_backoff", "must be at most 600"),
    "an expiry too soon": ("broker: {googlepubsub: {expiration_ttl: 23h}}\n", "broker.googlepubsub.expiration_ttl", "must be 0 or at least a day"),
}  # fmt: skip


@pytest.mark.parametrize(("broker", "path", "message"), BROKERS.values(), ids=BROKERS)
def test_a_broker_config_is_refused(broker: str, path: str, message: str, found: Found) -> None:
    [finding] = found(broker=broker)
    assert (finding.place.path, finding.severity) == (path, Severity.REFUSED)
    assert message in finding.message


def test_an_unknown_key_of_the_broker_config_is_a_mistake_only(inspected: Callable[..., Inspection]) -> None:
    inspection = inspected(broker="broker: {type: rabbitmq, subscriber: {parallelism: 5}}\n")
    assert inspection.loaded is not None
    [finding] = [finding for finding in inspection.findings if finding.rule == "unknown-key"]
    assert (finding.place.path, finding.severity) == ("broker.subscriber", Severity.MISTAKE)
    assert inspection.loaded.broker.subscriber.parallelism == 16


def test_an_unknown_key_of_a_source_is_a_mistake_only(inspected: Callable[..., Inspection]) -> None:
    """As in Go, which reads over it."""
    task = "params: [{name: a, source: {api_call: {method: GET, url: /x, timout: 5s}, name: x}}]\n"
    inspection = inspected(task)
    assert inspection.loaded is not None
    assert [(finding.place.path, finding.severity) for finding in inspection.findings] == [
        ("params[0].source.api_call.timout", Severity.MISTAKE),
        ("params[0].source.name", Severity.MISTAKE),
    ]


def test_everything_is_found_in_one_pass(found: Found) -> None:
    """Also what is wrong in blocks beside those whose structure is wrong, and inside them."""
    task = """\
        params:
          - {name: clusterId}
          - {name: region, source: event.region}
        preconditions:
          - name: bad-cel
            expression: "region == "
          - name: second
            expression: "regoin == 'x'"
        resources:
          - name: thing
            manifest: {apiVersion: v1, kind: X, metadata: {name: "{{ .clusterId }}"}}
            discovery: {by_name: "{{ .undefined }}", by_names: x}
    """
    assert [(finding.rule, finding.place.line) for finding in found(task)] == [
        ("missing-key", 2),
        ("invalid-value", 5),
        ("cel", 6),
        ("unknown-name", 8),
        ("no-generation", 11),
        ("unknown-name", 12),
        ("unknown-key", 12),
    ]


@pytest.mark.parametrize(
    "task",
    [
        "params:\npreconditions:\nresources:\npost:\n",
        "params: []\n",
        "params: [{name: 5, source: 7, required: 'yes', type: int, default: null}]\n",
        "params: [{name: a, source: event.id}, {name: a, source: event.id}]\n",
        "preconditions: [{name: a, conditions: [{field: event.id, operator: notExists}]}]\n",
        "preconditions: [{name: a, conditions: [{field: event.id, operator: greaterThanOrEqual, value: 5}]}]\n",
        "preconditions: [{name: a, conditions: [{field: event.id, operator: lessThanOrEqual, value: 5}]}]\n",
        "post: {payloads: [{name: a, build: {}}], post_actions: [{name: b, log: {message: hi}}]}\n",
    ],
)
def test_a_task_config_is_accepted(task: str, found: Found) -> None:
    assert not [finding for finding in found(task) if finding.severity is Severity.REFUSED]
