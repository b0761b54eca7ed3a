"""`lab-maestro` as those who start it from a shell see it."""

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from lab.loopback import ReservedPort

COMMAND = [sys.executable, "-m", "lab.maestro.command"]
TIMEOUT = 240.0


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def consumers(rest: str) -> list[str]:
    with urllib.request.urlopen(f"{rest}/api/maestro/v1/consumers?orderBy=name", timeout=TIMEOUT) as answer:
        document: dict[str, Any] = json.load(answer)
    return [each["name"] for each in document["items"]]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_on_the_ports_it_tells_until_it_is_signalled(number: signal.Signals) -> None:
    with running("--output", "json", "--consumer", "cluster1", "--consumer", "cluster2") as process:
        addresses = json.loads(read_line(process))
        assert consumers(addresses["rest"]) == ["cluster1", "cluster2"]
        for port in (addresses["grpc"], addresses["broker"]):
            host, _, port_number = port.rpartition(":")
            socket.create_connection((host, int(port_number)), TIMEOUT).close()

        process.send_signal(number)

        assert process.wait(TIMEOUT) == 0
        assert process.communicate() == ("", "")


def test_it_serves_on_the_given_port_and_prints_it() -> None:
    free = ReservedPort()
    with running("--rest-port", str(free.number)) as process:
        assert read_line(process) == "Maestro is up; stop it with Ctrl-C.\n"
        assert read_line(process).split() == ["rest", f"http://127.0.0.1:{free.number}"]
    free.release()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--consumer", "Bad_Name"], 1, 'consumer.name: Invalid value: "Bad_Name"'),
        (["--consumer", "a", "--consumer", "a"], 1, "This Consumer already exists"),
        (["--rest-port", "70000"], 2, "must be a port from 0 to 65535, not '70000'"),
        (["--heartbeat-seconds", "0"], 2, "must be a number above 0, not '0'"),
    ],
)
def test_it_says_what_is_wrong_and_leaves(arguments: list[str], code: int, message: str) -> None:
    ended = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=TIMEOUT, check=False)

    assert (ended.returncode, ended.stdout) == (code, "")
    assert message in ended.stderr


def test_a_port_that_is_taken_is_named_with_the_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            [*COMMAND, "--grpc-port", port], capture_output=True, text=True, timeout=TIMEOUT, check=False
        )

    assert ended.returncode == 1
    assert f"port {port} on 127.0.0.1 is not available" in ended.stderr
    assert "0 for a free one" in ended.stderr


def test_its_help_teaches() -> None:
    shown = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, timeout=TIMEOUT, check=True).stdout

    for part in ("REST", "gRPC", "broker", "--consumer", "examples:"):
        assert part in shown
