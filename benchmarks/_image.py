"""Start a program as its image does: from bytecode, without `site`, and without a developer's packages."""

import os
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[1]
# The image also has -E. Here the environment names the folders that the image has in one place.
PYTHON = (sys.executable, "-sS")


def environment(folder: Path) -> dict[str, str]:
    """The variables of such a process. The first one writes the bytecode that is missing; do not measure it."""
    # structlog imports rich where it finds it.
    (folder / "rich.py").write_text("raise ModuleNotFoundError('not in the image', name='rich')")
    places = (folder, ROOT, sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(dict.fromkeys(map(str, places)))}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    return variables
