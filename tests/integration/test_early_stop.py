"""SIGTERM while a program still loads: a pod that is deleted then must not wait for its whole grace period.

A container's first process gets no signal that it does not handle. Here SIGTERM's default action would end the programs
with -15, so another code shows that they handle it.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

# SIGTERM comes with the first of the modules that take the time.
LOADING = """
import os, signal, sys

class Terminator:
    def find_spec(self, name, path=None, target=None):
        if name in {"aiohttp", "asyncio", "pydantic", "yaml"}:
            os.kill(os.getpid(), signal.SIGTERM)

sys.meta_path.insert(0, Terminator())
from %s import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("program", "arguments", "code"),
    [
        pytest.param("dispatcher.cli.main", ["serve"], 128 + signal.SIGTERM, id="the dispatcher"),
        pytest.param("dispatcher.cli.main", ["test", "."], 128 + signal.SIGTERM, id="another command of its program"),
        pytest.param("dpu_bridge.__main__", [], 0, id="the bridge"),
        pytest.param("controlplane_adapter.__main__", ["check"], 128 + signal.SIGTERM, id="controlplane-adapter check"),
    ],
)
def test_sigterm_ends_a_program_that_still_loads(program: str, arguments: list[str], code: int) -> None:
    outcome = stopped_while_loading(program, *arguments)
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (code, "", "")


def test_maestro_cli_leaves_a_result_also_where_sigterm_comes_while_it_loads(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    outcome = stopped_while_loading("maestro_cli.__main__", "get", "w", "-c", "c", "--results-path", str(results))
    assert outcome.returncode == 128 + signal.SIGTERM
    assert [each["reason"] for each in json.loads(results.read_text())["conditions"]] == ["Terminated"]


def stopped_while_loading(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LOADING % program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
