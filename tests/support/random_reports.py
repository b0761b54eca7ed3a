"""Random environments, report files and pods for the status reporter: near to what is right, and far from it.

Plain random numbers from a seed, as in `random_runs`; a failing case is shown whole.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from status_reporter.settings import SETTINGS
from tests.support.random_runs import VALUES, random_text, random_value

# What decides where files go and which server is asked is the test's.
_FIXED = (
    "RESULTS_INPUT_PATH",
    "RESULTS_PATH",
    "TERMINATION_MESSAGE_PATH",
    "KUBERNETES_API_URL",
    "SERVICE_ACCOUNT_PATH",
)
NAMES = sorted(name for setting in SETTINGS for name in setting.names if name not in _FIXED)
_CONDITION = {"type": "Applied", "status": "True", "reason": "Created", "message": "it is there"}
_TYPES = ("Applied", "Available", "Health", "Complete", "example.com/Ready", "", "a b")
_WAITING = {"reason": "ImagePullBackOff", "message": "pull token=s3cret-in-a-pod failed"}


@dataclass(frozen=True, slots=True)
class ReporterCase:
    """`state` is that of the adapter's container; `report` is None where it wrote no file."""

    environment: dict[str, str]
    report: bytes | None
    state: dict[str, Any]


def reporter_cases(seed: int) -> Iterator[ReporterCase]:
    rng = random.Random(seed)
    while True:
        yield ReporterCase(_environment(rng), _report(rng), _state(rng))


def _environment(rng: random.Random) -> dict[str, str]:
    return {
        rng.choice(NAMES): rng.choice(VALUES) if rng.random() < 0.7 else random_text(rng)
        for _ in range(rng.choice([0, 0, 1, 1, 2, 4]))
    }


def _report(rng: random.Random) -> bytes | None:
    if rng.random() < 0.2:
        return None
    if rng.random() < 0.1:
        return rng.randbytes(rng.randrange(100))
    document: dict[str, Any] = {"conditions": [_condition(rng) for _ in range(rng.randrange(1, 4))]}
    for name in rng.sample(["data", "status", "reason", "message", "details", "observedGeneration"], rng.randrange(3)):
        document[name] = random_value(rng)
    if rng.random() < 0.1:
        document["conditions"] = random_value(rng)
    text = json.dumps(document)
    return text[: rng.randrange(len(text))].encode() if rng.random() < 0.1 else text.encode()


def _condition(rng: random.Random) -> dict[str, Any]:
    changed = rng.sample([*_CONDITION, "lastTransitionTime", "observedGeneration"], rng.choice([0, 0, 0, 1, 2]))
    made = {**_CONDITION, "type": rng.choice(_TYPES[:3])}
    return made | {name: rng.choice(_TYPES) if rng.random() < 0.5 else random_value(rng) for name in changed}


def _state(rng: random.Random) -> dict[str, Any]:
    ended = {"exitCode": rng.choice([0, 0, 1, 2, 137]), "reason": rng.choice(["Completed", "Error", "OOMKilled"])}
    if rng.random() < 0.3:
        ended["message"] = random_text(rng)
    return {"waiting": _WAITING} if rng.random() < 0.1 else {"terminated": ended}
