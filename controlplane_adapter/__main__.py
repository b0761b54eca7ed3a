"""`controlplane-adapter`: listen to signals first, then load the rest.

A pod can be stopped while its containers are still starting. The signal comes once; whoever misses it is killed
without having told anything.
"""

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import fields

from controlplane_adapter.exits import Exit
from controlplane_adapter.render_settings import RenderSettings, variable

ABOUT = """\
controlplane-adapter: bring a cluster's HostedCluster on its management cluster to what one generation asks for, and
write adapter-report.json. It runs as the main container of a Job, once per generation.

The environment tells it everything (defaults in brackets):
  CLUSTER_SNAPSHOT_PATH          a file, the cluster as the Job got it: {cluster, nodepools, adapters}
  CLUSTER_SNAPSHOT               the same, inline, at most 120 KiB
  CLUSTER_ID, GENERATION         what the snapshot must be of, where they are set
  MANAGEMENT_CLUSTER_CONSUMER    where a new control plane goes
  MANAGEMENT_CLUSTERS_URL        or: a list of management clusters to choose from, asked with ?region=...&status=healthy
  RESULTS_OUTPUT_PATH            the report [/results/adapter-report.json]
  ADAPTER_TIME_BUDGET            how long a run may take [120s]
  CONFIRMATION_WAIT              how long to wait for the agent's answer after a write [20s]
  DEGRADED_DAMPING, INSTALL_DAMPING, DELETION_STUCK_AFTER, AGENT_SILENT_AFTER
                                 when what lasts is told as trouble [5m, 45m, 30m, 5m]
  HOSTED_CLUSTER_OVERLAY_PATH    a partial HostedCluster (YAML or JSON) that is merged last
  MAESTRO_API_URL, MAESTRO_GRPC_URL, MAESTRO_SOURCE_ID [controlplane-adapter: never change it], MAESTRO_CA_FILE,
  MAESTRO_CERT_FILE, MAESTRO_KEY_FILE, MAESTRO_TOKEN_FILE, MAESTRO_INSECURE, ...   how to reach Maestro
  LOG_LEVEL, LOG_FORMAT, LOG_OUTPUT
                                 debug, info, warn, error [info]; json, text, auto [auto]; stderr, stdout [stderr]
"""


def usage() -> str:
    settings = RenderSettings()
    shared = "".join(
        f"  {variable(field.name)} {_shown(getattr(settings, field.name))}".rstrip() + "\n"
        for field in fields(settings)
    )
    codes = "".join(f"  {code.value}  {code.meaning}\n" for code in Exit)
    return f"{ABOUT}\nFor all clusters; a cluster's own spec wins over these:\n{shared}\nExit codes:\n{codes}"


def _shown(default: object) -> str:
    text = ",".join(f"{key}={value}" for key, value in default.items()) if isinstance(default, Mapping) else default
    return f"[{text}]" if text else ""


def main() -> int:
    stops: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: stops.append(received))
    if len(sys.argv) > 1:
        wrong = sys.argv[1] not in ("-h", "--help")
        print(usage(), end="", file=sys.stderr if wrong else sys.stdout)
        return Exit.MISCONFIGURED if wrong else Exit.REPORTED
    from controlplane_adapter.running import run  # noqa: PLC0415 - after the signals, because loading takes a while

    return run(os.environ, stops)


if __name__ == "__main__":
    sys.exit(main())
