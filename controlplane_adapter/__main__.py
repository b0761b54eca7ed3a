"""`controlplane-adapter`: listen to signals first, then load the rest.

A pod can be stopped while its containers are still starting. The signal comes once; whoever misses it is killed
without having told anything.
"""

import os
import signal
import sys

from controlplane_adapter.exits import Exit

USAGE = """\
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
  HOSTED_CLUSTER_<SETTING>       for all clusters, such as HOSTED_CLUSTER_NAMESPACE or ..._PULL_SECRET
  MAESTRO_API_URL, MAESTRO_GRPC_URL, MAESTRO_SOURCE_ID [controlplane-adapter: never change it], MAESTRO_CA_FILE,
  MAESTRO_CERT_FILE, MAESTRO_KEY_FILE, MAESTRO_TOKEN_FILE, MAESTRO_INSECURE, ...   how to reach Maestro
  LOG_LEVEL, LOG_FORMAT          debug, info, warn, error [info]; json, text, auto [auto]

Exit codes:
"""


def main() -> int:
    stops: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: stops.append(received))
    if len(sys.argv) > 1:
        wrong = sys.argv[1] not in ("-h", "--help")
        table = "".join(f"  {code.value}  {code.meaning}\n" for code in Exit)
        print(USAGE + table, end="", file=sys.stderr if wrong else sys.stdout)
        return Exit.MISCONFIGURED if wrong else Exit.REPORTED
    from controlplane_adapter.running import run  # noqa: PLC0415 - after the signals, because loading takes a while

    return run(os.environ, stops)


if __name__ == "__main__":
    sys.exit(main())
