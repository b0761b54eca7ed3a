"""docs/install-the-system.md as an operator follows it: every command in order, on a cluster of its own."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.real.cluster.cluster import Cluster
from lab.real.cluster.host import requirements
from lab.real.cluster.host.daemons import Daemon
from lab.real.cluster.place import LAB

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs" / "install-the-system.md"
TIMEOUT = 1800
STUCK_SECONDS = 120
_BLOCK = re.compile(r"^```(?P<kind>sh|text)\n(?P<content>.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def _lab_cluster() -> Iterator[None]:
    """The page has the cluster that a person uses. One that runs is left alone."""
    if obstacles := requirements.obstacles(LAB):
        pytest.skip("; ".join(obstacles))
    if Cluster(LAB).is_up():
        pytest.skip("a cluster of `make cluster` runs here: stop it with `make cluster-down`")
    yield
    Cluster(LAB).down()


@contextlib.contextmanager
def agent_restarted_when_stuck(log: Path) -> Iterator[None]:
    """Maestro's agent sometimes never confirms a deletion; it is then started anew, as an operator would."""
    over = threading.Event()

    def follow() -> None:
        while "-X DELETE" not in log.read_text():
            if over.wait(1):
                return
        if not over.wait(STUCK_SECONDS) and "helm uninstall" not in log.read_text():
            pid = Daemon("maestro", LAB).pid
            if pid is not None:  # else the page has gone on to stop the cluster
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGHUP)

    following = threading.Thread(target=follow)
    following.start()
    try:
        yield
    finally:
        over.set()
        following.join()


@pytest.mark.usefixtures("_lab_cluster")
def test_every_command_of_the_page_works_and_prints_what_it_says(tmp_path: Path) -> None:
    blocks = [(found["kind"], found["content"]) for found in _BLOCK.finditer(PAGE.read_text(encoding="utf-8"))]
    script = "".join(content for kind, content in blocks if kind == "sh").replace("/tmp/", f"{tmp_path}/")
    log = tmp_path / "log"
    with log.open("w") as output, agent_restarted_when_stuck(log):
        ended = subprocess.run(
            ["bash", "-euxo", "pipefail", "-c", script],
            cwd=ROOT,
            env=os.environ | {"VENV": str(Path(sys.executable).parent.parent)},
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT,
            check=False,
        )
    printed = log.read_text()
    assert ended.returncode == 0, printed[-4000:]
    for line in "".join(content for kind, content in blocks if kind == "text").splitlines():
        assert line.strip() in printed, f"the page says {line!r}; printed was:\n{printed[-4000:]}"
