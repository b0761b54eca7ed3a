"""The command `controlplane-adapter check`: the adapter's own settings, then Maestro, then the management cluster.

It changes nothing, but for the work of `--probe`. Exit codes: 0 nothing is missing, 2 invalid settings or arguments,
3 something is missing, 4 Maestro cannot be reached.
"""

import argparse
import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from controlplane_adapter.check.findings import Finding, State, gcp_by_probe, gcp_by_works, newest_status
from controlplane_adapter.check.probe import probe
from controlplane_adapter.check.settings import check_settings
from controlplane_adapter.exits import Exit
from controlplane_adapter.status.messages import error_message
from controlplane_adapter.status.outgoing import text
from shared import times
from shared.command_line import ArgumentParser
from shared.errors import HyperFleetError, Transient, UnknownConsumer
from shared.maestro import MaestroClient, MaestroSettings
from shared.model.manifestwork import ManifestWork
from shared.standard_streams import write_line

# Enough to see whether an agent reports, and little to read.
_MOST_WORKS = 300
_LONGEST = 1000
_EXITS = {State.INVALID: Exit.PERMANENT, State.MISSING: Exit.PERMANENT, State.UNREACHABLE: Exit.TRANSIENT}


def main(arguments: Sequence[str], variables: Mapping[str, str]) -> int:
    options = build_parser().parse_args(arguments)
    findings, maestro, consumer = check_settings(variables, crd=options.crd)
    if maestro is not None:
        findings += asyncio.run(_collect(maestro, consumer, with_probe=options.probe, wait=options.wait))
    write_line(_json(findings) if options.output == "json" else _table(findings))
    if any(each.name == "settings" and each.state is State.INVALID for each in findings):
        return Exit.MISCONFIGURED
    return next(
        (code for state, code in _EXITS.items() if any(each.state is state for each in findings)), Exit.REPORTED
    )


def build_parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        prog="controlplane-adapter check",
        description="Says which prerequisites of the control plane adapter are missing, as far as it can see them. The "
        "settings are those of the adapter; a snapshot is not needed.",
        epilog="exit codes: 0 nothing is missing; 2 invalid settings; 3 something is missing; 4 Maestro is unreachable",
    )
    parser.add_argument(
        "--probe",
        action="store_true",
        help="ask the management cluster for its HyperShift CRD, by a read-only work that is deleted afterwards",
    )
    parser.add_argument(
        "--crd",
        type=Path,
        metavar="FILE",
        help="check overlay and cluster by this CRD of HostedClusters "
        "(kubectl get crd hostedclusters.hypershift.openshift.io --output yaml)",
    )
    parser.add_argument("--wait", type=float, default=20.0, metavar="SECONDS", help="for the probe's answer [20]")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="text or json [text]")
    return parser


async def _collect(settings: MaestroSettings, consumer: str, *, with_probe: bool, wait: float) -> list[Finding]:
    findings: list[Finding] = []
    try:
        async with MaestroClient(replace(settings, retry_attempts=1)) as client:
            async for finding in _findings(client, settings, consumer, with_probe=with_probe, wait=wait):
                findings.append(finding)  # noqa: PERF401 - those before an error count
    except HyperFleetError as error:
        state = State.UNREACHABLE if isinstance(error, Transient) else State.MISSING
        findings.append(Finding(name="maestro", state=state, detail=error_message(error)))
    return findings


async def _findings(
    client: MaestroClient, settings: MaestroSettings, consumer: str, *, with_probe: bool, wait: float
) -> AsyncIterator[Finding]:
    registered = await _registration(client, consumer)
    yield Finding(name="maestro", state=State.OK, detail=f"REST answers at {settings.http_server_address}")
    await client.ping()
    identity = f"client certificate {settings.cert_file}" if settings.cert_file else "no client certificate"
    identity = f"token {settings.token_file}" if settings.token_file else identity
    detail = f"gRPC answers at {settings.grpc_target}; we are source {settings.source_id!r} with {identity}"
    yield Finding(name="maestro", state=State.OK, detail=detail)
    yield registered
    if registered.state is not State.OK:
        return
    works = await _works(client, consumer)
    yield newest_status(works, consumer, times.now())
    by_works = gcp_by_works(works, consumer)
    yield gcp_by_probe(await probe(client, consumer, timeout=wait), consumer) if with_probe else by_works


async def _registration(client: MaestroClient, consumer: str) -> Finding:
    if not consumer:
        detail = "MANAGEMENT_CLUSTERS_URL chooses the management cluster; set MANAGEMENT_CLUSTER_CONSUMER to check one"
        await client.consumers.list()
        return Finding(name="consumer", state=State.SKIPPED, detail=detail)
    try:
        await client.consumers.get(consumer)
    except UnknownConsumer as error:
        remedy = f"register it (`maestro-cli consumer ensure {consumer}`), or correct MANAGEMENT_CLUSTER_CONSUMER"
        return Finding(name="consumer", state=State.MISSING, detail=error.what, remedy=remedy)
    return Finding(name="consumer", state=State.OK, detail=f"{consumer} is registered")


async def _works(client: MaestroClient, consumer: str) -> list[ManifestWork]:
    works: list[ManifestWork] = []
    async with aclosing(client.scan(consumer=consumer)) as scanned:
        async for work in scanned:
            works.append(work)
            if len(works) >= _MOST_WORKS:
                break
    return works


def _json(findings: Sequence[Finding]) -> str:
    document: list[dict[str, Any]] = [
        {name: text(str(value), _LONGEST) for name, value in asdict(finding).items()} for finding in findings
    ]
    return json.dumps({"checks": document}, indent=1, ensure_ascii=False)


def _table(findings: Sequence[Finding]) -> str:
    lines = []
    for each in findings:
        lines.append(f"{each.state:<12} {each.name:<11} {text(each.detail, _LONGEST)}")
        if each.remedy and each.state is not State.OK:
            lines.append(f"{'':<24} → {text(each.remedy, _LONGEST)}")
    return "\n".join(lines)
