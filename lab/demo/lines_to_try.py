"""What `--keep` prints: lines that work as they stand, in another terminal."""

import sys
from pathlib import Path

from lab.system import LabSystem
from lab.system.system import CONSUMER


def lines_to_try(system: LabSystem) -> str:
    dispatcher, programs = system.dispatchers["controlplane"], Path(sys.executable).parent
    api, maestro = f"{system.api.url}/api/hyperfleet/v1", f"--http-endpoint {system.maestro.rest_url}"
    # The one cluster that `left_running` left.
    (cluster,) = (each.metadata["labels"]["hyperfleet.io/cluster-id"] for each in system.agent.held.values())
    return f"""
It goes on running; Ctrl-C stops it. In another terminal:

  curl -s {api}/clusters
  curl -s {api}/clusters/{cluster}/statuses
  curl -s http://127.0.0.1:{dispatcher.health_port}/objects
  curl -s http://127.0.0.1:{dispatcher.metrics_port}/metrics
  kubectl --kubeconfig {system.kubeconfig} -n hyperfleet-adapters get jobs
  {programs}/maestro-cli list --consumer {CONSUMER} {maestro}
  {programs}/maestro-cli get -l hyperfleet.io/cluster-id={cluster} --consumer {CONSUMER} {maestro}
  tail {dispatcher.log}
"""
