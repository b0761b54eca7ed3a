"""`make demo` comes to its end, and tells what it promises."""

import subprocess
import sys


def test_the_demonstration_takes_a_cluster_from_nothing_to_available_and_away() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "lab.demo"], capture_output=True, text=True, timeout=120, check=True
    ).stdout

    milestones = (
        "DELETED: nothing is left on the management cluster",
        "Applied=True ManifestWorkCreated",
        "Available=False Provisioning",
        "Available=True ControlPlaneReady",
        "endpoint https://api.demo.example.com:443, version 4.22.0",
        "Finalized=True",
    )
    positions = [shown.find(each) for each in milestones]
    assert -1 not in positions, shown
    assert positions == sorted(positions), shown
