"""The real HyperFleet API: built from its module and our OpenAPI document, migrated, started, killed, started again.

The module lacks the types that its makers generate from their OpenAPI document. So a copy of it is completed with the
types of ours (`lab/api/openapi.yaml`), which has the same schema names, and the requirement of theirs is dropped. Only
v0.3.0 can be had; the contract suite says where it differs from newer ones.
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from pathlib import Path

from lab.real.artifacts.go_binaries import built, digest, go_build, kept
from lab.real.artifacts.go_modules import GoModule, module_folder
from lab.real.artifacts.steps import step
from lab.real.servers.postgres import USER, Postgres
from lab.real.servers.processes import Server, free_port

MODULE = GoModule(
    "github.com/openshift-hyperfleet/hyperfleet-api",
    "v0.3.0",
    checksum="h1:suHzvDAJin2m1+OhENq33t4mWLhCy9GO9QvRrTc18Qw=",
)
OPENAPI_FILE = Path(__file__).parents[2] / "api" / "openapi.yaml"
_SPEC_MODULE = "github.com/openshift-hyperfleet/hyperfleet-api-spec"
_GENERATOR = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen"
_SOURCES = ("cmd", "pkg", "plugins", "openapi", "go.mod", "go.sum")


def hyperfleet_api_binary() -> Path:
    """The server's binary, built now if this machine has not built it from this document before."""
    folder = f"hyperfleet-api-{digest(MODULE.checksum.encode() + OPENAPI_FILE.read_bytes())}"
    return kept(folder, "hyperfleet-api", _build)


def _build(binary: Path) -> None:
    generator = built("oapi-codegen", _GENERATOR)
    original = module_folder(MODULE)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        for name in _SOURCES:
            _copy(original / name, source / name)
        with step("generate the types of the HyperFleet API"):
            _generate(generator, source)
        _drop_requirement(source)
        go_build(source, "./cmd/hyperfleet-api", binary, {})


def _copy(original: Path, copy: Path) -> None:
    """A copy that may be written to, unlike what Go keeps; the file modes are new."""
    if original.is_dir():
        copy.mkdir()
        for each in original.iterdir():
            _copy(each, copy / each.name)
    else:
        shutil.copyfile(original, copy)


def _generate(generator: Path, source: Path) -> None:
    (source / "pkg/api/openapi").mkdir()
    shutil.copyfile(OPENAPI_FILE, source / "openapi/openapi.yaml")
    flags = ("--config", "openapi/oapi-codegen.yaml", "openapi/openapi.yaml")
    subprocess.run([generator, *flags], cwd=source, check=True)


def _drop_requirement(source: Path) -> None:
    environment = os.environ | {"GOFLAGS": "-mod=mod"}
    subprocess.run(["go", "mod", "edit", f"-droprequire={_SPEC_MODULE}"], cwd=source, env=environment, check=True)


class RealHyperFleetApi:
    """One server on its own database. `kill` and `start` keep the port and the data, as a crash of a pod would.

    `required_adapters` are those that decide over a kind, by kind. It listens on `host`, on a free port or on `port`.
    """

    def __init__(
        self,
        folder: Path,
        database: Postgres,
        name: str = "hyperfleet",
        *,
        required_adapters: Mapping[str, Iterable[str]] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.host, self.port, self._health_port = host, port or free_port(), free_port()
        self._folder = folder / name
        self._folder.mkdir(mode=0o755)
        self._database, self._name = database, name
        self._required = required_adapters or {"Cluster": ("controlplane",), "NodePool": ("nodepool",)}
        self._config = self._folder / "config.json"
        self._server = Server("hyperfleet-api", self._folder)
        self._binary = hyperfleet_api_binary()

    @property
    def url(self) -> str:
        """Without the path: clients add `/api/hyperfleet/v1`."""
        return f"http://{self.host}:{self.port}"

    def prepare(self) -> None:
        """The database with its tables, and the configuration."""
        self._config.write_text(json.dumps(self._settings(), indent=2))
        self._database.create_database(self._name)
        migrated = subprocess.run(
            [self._binary, "migrate", *self._flags()], check=False, capture_output=True, text=True
        )
        if migrated.returncode != 0:
            raise RuntimeError(f"the HyperFleet API cannot migrate its database:\n{migrated.stdout}{migrated.stderr}")

    def start(self) -> None:
        self._server.start([self._binary, "serve", *self._flags()], ready=self._is_ready)

    def kill(self) -> None:
        self._server.stop(signal.SIGKILL)

    def stop(self) -> None:
        self._server.stop()

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._health_port}/readyz", timeout=2) as answer:
                ready: bool = answer.status == 200  # noqa: PLR2004 - HTTP's own number
        except (urllib.error.URLError, OSError):
            return False
        return ready

    def _flags(self) -> list[str]:
        return ["--config", str(self._config)]

    def _settings(self) -> dict[str, object]:
        host = "127.0.0.1"
        database = {"host": host, "port": self._database.port, "name": self._name}
        return {
            "server": {
                "host": self.host,
                "port": self.port,
                "openapi_schema_path": str(OPENAPI_FILE),
                "jwt": {"enabled": False},
            },
            "database": {**database, "username": USER, "password": "none"},
            "metrics": {"host": host, "port": free_port()},
            "health": {"host": host, "port": self._health_port},
            "logging": {"level": "warn", "otel": {"enabled": False}},
            "adapters": {"required": {kind.lower(): list(names) for kind, names in self._required.items()}},
        }
