"""The part of the check that needs no connection: settings, cluster spec, overlay and CRD."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from controlplane_adapter import setting_table as table
from controlplane_adapter.check.findings import Finding, State
from controlplane_adapter.hostedcluster.overlay import added_fields
from controlplane_adapter.hostedcluster.rendering import render
from controlplane_adapter.hostedcluster.schema import offers_gcp, schema_of, schema_problems
from controlplane_adapter.hostedcluster.validation.cluster import cluster_problems
from controlplane_adapter.settings import Settings, load
from controlplane_adapter.status.messages import error_message, join_parts
from shared import log_settings
from shared.environment import Environment
from shared.errors import HyperFleetError, Misconfigured, Problem
from shared.files import read_regular_file
from shared.maestro import MaestroSettings

MAX_CRD_BYTES = 8 * 1024 * 1024
# Stands in for a cluster where no snapshot is given.
_EXAMPLE = {
    "cluster": {"id": "00000000-0000-4000-8000-000000000000", "name": "example", "generation": 1, "spec": {}},
    "nodepools": {"total": 0},
}


def check_settings(
    variables: Mapping[str, str], *, crd: Path | None
) -> tuple[list[Finding], MaestroSettings | None, str]:
    """The findings, and how to reach Maestro and which management cluster, as far as the settings say it."""
    environment = Environment(variables)
    with_cluster = any(environment.origin(each) for each in (table.SNAPSHOT, table.SNAPSHOT_PATH))
    given = variables if with_cluster else {**variables, table.SNAPSHOT.name: json.dumps(_EXAMPLE)}
    findings: list[Finding] = []
    for setting in log_settings.SETTINGS:
        environment.read(setting)
    try:
        settings = load(given)
    except Misconfigured as error:
        problems = [*environment.problems, *error.problems]
        findings.append(_invalid("settings", problems, "correct these settings"))
        return findings, _maestro(given), environment.read(table.CONSUMER)
    findings.append(Finding(name="settings", state=State.OK, detail="all settings are valid"))
    findings += _cluster_findings(settings, with_cluster=with_cluster)
    if crd is not None:
        findings += _crd_findings(settings, crd, with_cluster=with_cluster)
    elif with_cluster:
        findings += _overlay_findings(settings)
    return findings, settings.maestro, settings.consumer


def _maestro(variables: Mapping[str, str]) -> MaestroSettings | None:
    """Maestro can often be reached though another setting is wrong."""
    derived = {"source_id": (table.DEFAULT_SOURCE, "MAESTRO_SOURCE_ID"), "retry_attempts": (1, "")}
    try:
        return MaestroSettings.load(variables, derived=derived)
    except HyperFleetError:
        return None


def _cluster_findings(settings: Settings, *, with_cluster: bool) -> list[Finding]:
    if not with_cluster:
        return []
    rendered = render(settings.snapshot, settings.render, infra_id=None, overlay=settings.overlay)
    problems = cluster_problems(settings.snapshot, rendered, settings.render)
    if problems:
        return [_invalid("cluster", problems, "correct these values")]
    return [Finding(name="cluster", state=State.OK, detail=f"the spec of {settings.snapshot.name!r} is valid")]


def _overlay_findings(settings: Settings) -> list[Finding]:
    """Without a CRD: only the fields that the adapter renders are known to exist."""
    rendered = render(settings.snapshot, settings.render, infra_id=None)
    added = added_fields(settings.overlay, rendered.manifest)
    if not added:
        return []
    detail = f"it adds fields that may not exist: {', '.join(added)}"
    remedy = "ask the CRD of the management cluster with --crd"
    return [Finding(name="overlay", state=State.UNKNOWN, detail=detail, remedy=remedy)]


def _crd_findings(settings: Settings, file: Path, *, with_cluster: bool) -> list[Finding]:
    try:
        schema = schema_of(_document(file))
    except Misconfigured as error:
        return [Finding(name="crd", state=State.INVALID, detail=error_message(error))]
    if not offers_gcp(schema):
        detail = "the CRD lacks the platform GCP"
        remedy = "install HyperShift with the feature set TechPreviewNoUpgrade"
        return [Finding(name="crd", state=State.MISSING, detail=detail, remedy=remedy)]
    problems = [Problem(f"overlay.{each.path}", each.message) for each in schema_problems(settings.overlay, schema)]
    if with_cluster:
        rendered = render(settings.snapshot, settings.render, infra_id=None)
        problems += schema_problems(rendered.manifest, schema)
    if problems:
        return [_invalid("crd", problems, "use fields and types of this CRD, or upgrade HyperShift")]
    return [Finding(name="crd", state=State.OK, detail="overlay and cluster have only fields of this CRD")]


def _document(file: Path) -> Any:
    import yaml  # noqa: PLC0415 - slow to import, and only this option needs it

    try:
        content = read_regular_file(file, MAX_CRD_BYTES)
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        return yaml.load(content, Loader=loader)  # noqa: S506 - both loaders are safe
    except OSError as error:
        raise Misconfigured(f"the CRD {file} cannot be read", why=error.strerror or str(error)) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Misconfigured(f"the CRD {file} is not YAML", why=" ".join(str(error).split())[:200]) from error


def _invalid(name: str, problems: list[Problem], remedy: str) -> Finding:
    return Finding(name=name, state=State.INVALID, detail=join_parts(*map(str, problems)), remedy=remedy)
