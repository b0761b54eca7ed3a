"""Renews the locks: exact versions with hashes for every supported Python, naming no registry.

`dev.txt` holds everything and decides the versions; each image's file is the part of it that the image needs.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
IMAGES = ("reporter", "adapter", "dispatcher", "bridge")


def compile_lock(target: str, *selection: str) -> None:
    subprocess.run(
        [
            *(sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--quiet", "--upgrade"),
            *("--universal", "--python-version", "3.11", "--generate-hashes", "--no-annotate"),
            *("--custom-compile-command", "make lock", "--output-file", f"requirements/{target}.txt"),
            *selection,
        ],
        cwd=HERE.parent,
        check=True,
    )


if __name__ == "__main__":
    compile_lock("dev", "--all-extras", "--group", "dev")
    for image in IMAGES:
        compile_lock(image, "--extra", image, "--constraint", "requirements/dev.txt")
