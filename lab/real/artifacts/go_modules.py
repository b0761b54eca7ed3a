"""Files of Go modules, as the module proxy has them. Their checksums fix every byte, as a go.sum would."""

import functools
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from lab.real.artifacts.go_binaries import CannotBuild


@dataclass(frozen=True, slots=True)
class GoModule:
    path: str
    version: str
    checksum: str = field(kw_only=True)

    def __str__(self) -> str:
        return f"{self.path}@{self.version}"


@functools.cache
def module_folder(module: GoModule) -> Path:
    """The folder of this module in Go's cache; downloads it if it is missing."""
    go = shutil.which("go")
    if go is None:
        raise CannotBuild(f"fetching {module} needs Go on the PATH; install it, or run `make test`, which needs none")
    with tempfile.TemporaryDirectory() as outside_any_module:
        answer = subprocess.run(
            [go, "mod", "download", "-json", str(module)],
            cwd=outside_any_module,
            env=os.environ | {"GOFLAGS": "-mod=mod"},
            capture_output=True,
            check=False,
        )
    downloaded = json.loads(answer.stdout or b"{}")
    if answer.returncode != 0:
        raise CannotBuild(f"{module} cannot be fetched: {downloaded.get('Error') or answer.stderr.decode().strip()}")
    if downloaded["Sum"] != module.checksum:
        raise CannotBuild(f"{module} is {downloaded['Sum']}, not the {module.checksum} it was when this was written")
    return Path(downloaded["Dir"])
