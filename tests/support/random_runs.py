"""Random environments and snapshots for the adapter: near to what is right, and far from it.

Plain random numbers from a seed, because thousands of cases are wanted in seconds; a failing case is shown whole.
"""

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from controlplane_adapter.setting_table import SETTINGS, render_settings
from shared import log_settings
from shared.maestro.config.sources import OPTIONS
from tests.support.adapter import SPEC, Cluster

Case = tuple[dict[str, str], bytes]

# What decides where files go is the test's.
_FIXED = ("RESULTS_OUTPUT_PATH", "TERMINATION_MESSAGE_PATH", "CLUSTER_SNAPSHOT", "CLUSTER_SNAPSHOT_PATH")
_ALL = (*SETTINGS, *render_settings().values(), *log_settings.SETTINGS, *(each.setting for each in OPTIONS))
NAMES = sorted(name for setting in _ALL for name in setting.names if name not in _FIXED)
VALUES = [
    *("", " ", "0", "-1", "1", "90", "1s", "600h", "soon", "true", "false", "None", "a=b", "a=b,c", "=", "x" * 5000),
    *(
        "https://maestro..svc:8000",
        "http://admin:s3cret@host",
        "https://ü.example",
        "grpc://x:1",
        "host:8090",
        "[::1]:1",
    ),
    *("/", "/dev/null", "/nowhere/file", "10.0.0.0/8", "10.0.0.1/8,fd00::/8", "{name}-x", "mgmt-01", "Mgmt", "\n", "%"),
    *(
        "http://[",
        "https://host:99999",
        "\u0663",
        "\u0661s",
        "{",
        "[]",
        "Route",
        "GCP",
        "Private",
        "PublicAndPrivate",
        "team=a b",
    ),
]
_CHARACTERS = "abcXYZ019 -_./:{}[]\"'\\,=@%\n\t\u00e9\u0663\u2028\U0001f600"


def cases(seed: int) -> Iterator[Case]:
    rng = random.Random(seed)
    while True:
        yield environment(rng), snapshot(rng)


def environment(rng: random.Random) -> dict[str, str]:
    return {
        rng.choice(NAMES): rng.choice(VALUES) if rng.random() < 0.7 else random_text(rng)
        for _ in range(rng.randrange(5))
    }


def snapshot(rng: random.Random) -> bytes:
    """A snapshot that was damaged in some places, sometimes beyond recognition."""
    if rng.random() < 0.05:
        return rng.randbytes(rng.randrange(100))
    document = Cluster().snapshot()
    spec = document["cluster"]["spec"] = dict(SPEC)
    for name in rng.sample(
        [*SPEC, "resource_labels", "release_image", "service_account_emails", "x"], rng.randrange(4)
    ):
        spec[name] = random_value(rng)
    if rng.random() < 0.2:
        document["cluster"]["deleted_time"] = rng.choice(["2026-01-01T00:00:00Z", "yesterday", 7])
    for holder, names in ((document["cluster"], [*document["cluster"]]), (document, [*document])):
        if rng.random() < 0.1:
            holder[rng.choice(names)] = random_value(rng)
    return json.dumps(document).encode()


def random_value(rng: random.Random, depth: int = 3) -> Any:
    makers: list[Callable[[], Any]] = [
        lambda: None,
        lambda: rng.random() < 0.5,
        lambda: rng.choice([0, -1, 7, 10**30, 1.5]),
        lambda: rng.choice(VALUES),
        lambda: random_text(rng),
        lambda: "\ud800",
    ]
    if depth:
        makers.append(lambda: [random_value(rng, depth - 1) for _ in range(rng.randrange(4))])
        makers.append(lambda: {random_text(rng): random_value(rng, depth - 1) for _ in range(rng.randrange(4))})
    return rng.choice(makers)()


def random_text(rng: random.Random) -> str:
    return "".join(rng.choice(_CHARACTERS) for _ in range(rng.randrange(20)))
