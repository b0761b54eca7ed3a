"""`make demo` takes a cluster through its whole existence, from the event on, and says how long each step took."""

import subprocess
import sys

# In this order.
MILESTONES = (
    "Sentinel         Cluster",
    "HyperShift       HostedCluster demo: Available=True",
    "see the endpoint https://api.demo.hypershift.local:443, version 4.22.0",
    "changed openshift_version to 4.22.1",
    "added the node pool workers",
    "deleted the cluster",
    "created the bridge dpu",
    "DPU bridge       DPUCluster bluefields has the kubeconfig",
    "DPU bridge       bridge dpu: Ready=True",
    "DPU bridge       approved the certificate request bootstrap-dpu-1",
    "deleted the bridge dpu",
    "everything is stopped",
    "the bridge, its control plane and DPF's kubeconfig are gone",
)
# Shown as soon as they are seen, which may be after what they led to.
REPORTS = (
    "status reporter  Job",
    "Available=True Health=True (ControlPlaneReady)",
    "the work with NodePool demo-workers is there",
    "Finalized=True (Deleted)",
)


def test_the_demonstration_takes_a_cluster_from_its_event_to_available_and_away() -> None:
    outcome = subprocess.run(
        [sys.executable, "-m", "lab.demo"], capture_output=True, text=True, timeout=1800, check=False
    )
    shown = outcome.stdout
    assert outcome.returncode == 0, shown + outcome.stderr
    assert [each for each in REPORTS if each not in shown] == [], shown
    positions = [shown.find(each) for each in MILESTONES]
    assert -1 not in positions, shown
    assert positions == sorted(positions), shown
