"""The sidecar's Dockerfile names each module it needs; a module that is missing there would be missed at the first start."""

import json
import re
import subprocess
import sys
from pathlib import Path

DOCKERFILE = Path(__file__).parents[3] / "Dockerfile.reporter"
SCRIPT = """
import importlib, json, pkgutil, sys
import status_reporter
for module in pkgutil.walk_packages(status_reporter.__path__, "status_reporter."):
    importlib.import_module(module.name)
print(json.dumps([module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] == "shared"]))
"""


def test_the_image_holds_exactly_the_shared_modules_that_are_loaded() -> None:
    outcome = subprocess.run([sys.executable, "-c", SCRIPT], check=True, capture_output=True, text=True, timeout=240)
    loaded = {str(Path(file).relative_to(DOCKERFILE.parent)) for file in json.loads(outcome.stdout)}
    assert set(re.findall(r"shared/\S+\.py", DOCKERFILE.read_text())) == loaded
