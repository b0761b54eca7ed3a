"""A throw-away RabbitMQ on loopback, from Debian's package: its own node, folders and port mapper, nothing shared."""

import contextlib
import signal
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

from lab.real.artifacts.go_binaries import CannotBuild
from lab.real.servers.processes import Server, accepts, free_port

# Not the command on the PATH, which changes the user and writes to the system's own log.
_SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
_PORT_MAPPER = Path("/usr/bin/epmd")
_GREETING = b"AMQP\x00\x00\x09\x01"


class RealRabbitMq:
    """One node. `kill` and `start` keep the port, durable queues and persistent messages, as a crash of a pod would.

    `settings` are lines of rabbitmq.conf, such as `{"consumer_timeout": "1000"}`. It listens on `host` and on
    `port`, or on a free one.
    """

    def __init__(
        self, folder: Path, *, settings: Mapping[str, str] | None = None, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        check_programs()
        self.host, self.port = host, port or free_port()
        self._mapper_port, self._distribution_port = free_port(), free_port()
        self._folder = folder / "rabbitmq"
        self._folder.mkdir()
        self._settings = settings or {}
        self._mapper = Server("epmd", self._folder)
        self._server = Server("rabbitmq", self._folder)
        self._write_files()

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@{self.host}:{self.port}/"

    def start(self) -> None:
        """Return when it accepts clients."""
        if not accepts(self._mapper_port):
            self._mapper.start(
                [_PORT_MAPPER, "-address", "127.0.0.1", "-port", str(self._mapper_port)],
                ready=lambda: accepts(self._mapper_port),
                environment={"HOME": str(self._folder)},
            )
        self._server.start([_SERVER], ready=self._greets, environment=self._environment())

    def kill(self) -> None:
        self._server.stop(signal.SIGKILL)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """It keeps its connections and says nothing, as behind a network that lost them."""
        self._server.pause()
        try:
            yield
        finally:
            self._server.resume()

    def stop(self) -> None:
        """Stop it cleanly, with its port mapper."""
        self._server.stop()
        self._mapper.stop()

    def _write_files(self) -> None:
        lines = {"listeners.tcp.default": f"{self.host}:{self.port}", **self._settings}
        config = "".join(f"{key} = {value}\n" for key, value in lines.items())
        (self._folder / "rabbitmq.conf").write_text(config)
        (self._folder / "rabbitmq-env.conf").write_text("")
        (self._folder / "enabled_plugins").write_text("[].\n")

    def _environment(self) -> dict[str, str]:
        folder = str(self._folder)
        return {
            "HOME": folder,  # of the Erlang cookie
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(self._mapper_port),
            "RABBITMQ_NODENAME": f"rabbit-{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(self._distribution_port),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "RABBITMQ_CONF_ENV_FILE": f"{folder}/rabbitmq-env.conf",
            "RABBITMQ_CONFIG_FILE": f"{folder}/rabbitmq.conf",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/enabled_plugins",
            "RABBITMQ_MNESIA_BASE": f"{folder}/mnesia",
            "RABBITMQ_LOG_BASE": f"{folder}/log",
            "RABBITMQ_PID_FILE": f"{folder}/pid",
            # So that the start script becomes the server, and dies with us, instead of watching over it.
            "RUNNING_UNDER_SYSTEMD": "true",
        }

    def _greets(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection((self.host, self.port), timeout=2) as client:
            client.sendall(_GREETING)
            return client.recv(1) == b"\x01"  # a frame of a method, not the refusal of an unknown protocol
        return False


def check_programs() -> None:
    """Raises CannotBuild, with what to install, where one is missing."""
    for program in (_SERVER, _PORT_MAPPER):
        if not program.exists():
            raise CannotBuild(f"{program} is needed: apt-get install rabbitmq-server")
