"""The shipped Job of the control plane adapter, rendered for the cluster of a snapshot, as the dispatcher does."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from shared.languages.gotemplate import compile_structure

FOLDER = Path(__file__).parents[3] / "jobs" / "controlplane"
_TEMPLATE = compile_structure(yaml.safe_load((FOLDER / "job.yaml").read_text()))


def rendered(
    snapshot: Mapping[str, Any],
    *,
    adapter_image: str,
    reporter_image: str,
    maestro_api_url: str,
    maestro_grpc_url: str,
    consumer: str,
) -> dict[str, Any]:
    cluster = snapshot["cluster"]
    variables = {
        "clusterId": cluster["id"],
        "generation": cluster["generation"],
        "clusterSnapshot": json.dumps(snapshot),
        "managementCluster": consumer,
        "maestroApiUrl": maestro_api_url,
        "maestroGrpcUrl": maestro_grpc_url,
        "adapterImage": adapter_image,
        "reporterImage": reporter_image,
        "adapter": {"name": "controlplane"},
    }
    job: dict[str, Any] = _TEMPLATE.render(variables)
    return job
