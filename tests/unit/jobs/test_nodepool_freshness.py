"""The node pool adapter believes only feedback about the current version of its work."""

from pathlib import Path
from typing import Any

import pytest

from dispatcher.config.loading import load

FOLDER = Path(__file__).parents[3] / "jobs" / "nodepool"
FEEDBACK = {"values": [{"name": "ready", "fieldValue": {"type": "String", "string": "True"}}]}


@pytest.mark.parametrize(("observed", "expected"), [(2, "True"), (1, "False")], ids=["this version", "the one before"])
def test_feedback_counts_for_the_version_it_was_observed_on(observed: int, expected: str) -> None:
    loaded = load(
        FOLDER / "nodepool-adapter-config.yaml",
        FOLDER / "nodepool-task-config.yaml",
        environment={"MANAGEMENT_CLUSTER_CONSUMER": "mgmt-01"},
    )
    build: Any = loaded.adapter.payloads[0].build
    conditions: Any = {key.source: node for key, node in build.entries}["conditions"]
    applied = {"type": "Applied", "status": "True", "observedGeneration": observed}
    variables = {
        "isDeleting": False,
        "resources": {
            "nodePoolWork": {"metadata": {"generation": 2}, "status": {"conditions": [applied]}},
            "nodePool": {"statusFeedback": FEEDBACK},
        },
    }
    for condition in conditions.elements[:2]:
        members = {key.source: node for key, node in condition.entries}
        assert members["status"].expression.evaluate(variables) == expected
