"""The adapter's chart as far as it can be judged without Helm: its schema, its examples, its metrics."""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from prometheus_client import CollectorRegistry

from dispatcher.observability.identity import Identity
from dispatcher.observability.metrics import Metrics, QueueCollector

CHART = Path(__file__).parents[3] / "charts" / "hyperfleet-adapter"
SCHEMA = json.loads((CHART / "values.schema.json").read_text())
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
# Kubernetes' own objects.
AS_A_WHOLE = {
    *("livenessProbe", "readinessProbe", "resources", "podSecurityContext", "securityContext", "strategy"),
    "monitoring.dashboard.labels",
}
EXAMPLES = sorted((CHART / "examples").glob("*.yaml"))


def merged(defaults: Any, changes: Any) -> Any:
    if isinstance(defaults, dict) and isinstance(changes, dict):
        return {key: merged(defaults.get(key), changes.get(key, defaults.get(key))) for key in {*defaults, *changes}}
    return changes


def test_the_defaults_are_what_the_schema_allows_and_the_schema_knows_no_more() -> None:
    jsonschema.validate(VALUES, SCHEMA)
    assert set(SCHEMA["properties"]) - {"global"} == set(VALUES)


def leaves(values: Any, path: str = "") -> Iterator[str]:
    if isinstance(values, dict) and values and path not in AS_A_WHOLE:
        for key, below in values.items():
            yield from leaves(below, f"{path}.{key}" if path else key)
    else:
        yield path


def named(text: str) -> Iterator[str]:
    """The values in the code spans of a table: `image.{registry,tag}` are two."""
    for span in re.findall(r"`([^`]+)`", text):
        if group := re.fullmatch(r"([\w.]*)\{([\w,. ]+)\}", span):
            yield from (f"{group[1]}{each.strip()}" for each in group[2].split(","))
        else:
            yield span


def test_the_table_of_the_go_charts_values_has_every_value_of_this_chart() -> None:
    table = (CHART / "README.md").read_text().partition("## From the Go chart")[2]
    column = [line.split("|")[2] for line in table.splitlines() if line.startswith("|")]
    assert set(leaves(VALUES)) - set(named("".join(column))) == set()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_allowed(path: Path) -> None:
    jsonschema.validate(merged(copy.deepcopy(VALUES), yaml.safe_load(path.read_text())), SCHEMA)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"replicas": 2}, id="a key that is unknown"),
        pytest.param({"broker": {"rabbitmq": {"exchange_type": "topic"}}}, id="the old spelling of a broker's key"),
        pytest.param({"image": {"repository": "PLACEHOLDER"}}, id="a placeholder for an image"),
        pytest.param({"adapterConfig": {"log": {"level": "loud"}}}, id="no such level"),
    ],
)
def test_mistakes_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(merged(copy.deepcopy(VALUES), wrong), SCHEMA)


def known_metrics() -> set[str]:
    class Empty:
        def objects(self) -> dict[str, int]:
            return {}

        def oldest_wake(self) -> float:
            return 0.0

        def slowed(self) -> list[tuple[str, str]]:
            return []

        def awaited_deletions(self) -> dict[str, int]:
            return {}

    identity = Identity(component="c", version="v", commit="x")
    registry = CollectorRegistry()
    registry.register(QueueCollector(Empty(), identity))
    families = [*Metrics(identity).registry.collect(), *registry.collect()]
    return {family.name for family in families}


@pytest.mark.parametrize("name", ["alerts.yaml", "dashboard.json"])
def test_alerts_and_dashboard_ask_only_for_metrics_that_exist(name: str) -> None:
    asked = set(re.findall(r"\bhyperfleet_[a-z_]+", (CHART / "files" / name).read_text()))
    stems = {re.sub(r"_(total|bucket|count|sum)$", "", each) for each in asked}
    assert asked
    assert stems <= known_metrics()
