"""The gate builds the real servers while it installs the packages that everything else needs."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_builds_start_before_any_package_is_installed() -> None:
    without_packages = [sys.executable, "-S", "-c", "import lab.real.prebuild"]
    started = subprocess.run(without_packages, cwd=ROOT, capture_output=True, text=True, check=False)
    assert started.stderr == ""
    assert started.returncode == 0
