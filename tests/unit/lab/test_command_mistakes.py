"""A wrong option of a stand-in is named, with what is expected in its place."""

from collections.abc import Callable, Sequence

import pytest

from lab.api.command import main as api
from lab.maestro.command import main as maestro
from lab.sentinel.command import main as sentinel

TO_SENTINEL = ("--api", "http://127.0.0.1:1", "--broker", "127.0.0.1:1", "--topic", "t")
PORT = "must be a port from 0 to 65535, not "
MISTAKES = {
    "a port that is a word": (api, ["--port", "x"], f"--port: {PORT}'x'"),
    "a port that is too large": (api, ["--port", "65536"], f"--port: {PORT}'65536'"),
    "a negative port of Maestro": (maestro, ["--rest-port=-1"], f"--rest-port: {PORT}'-1'"),
    "a speed that is a word": (maestro, ["--speed", "x"], "--speed: must be a number above 0, not 'x'"),
    "no speed": (maestro, ["--speed", "0"], "--speed: must be a number above 0, not '0'"),
    "a time that is none": (sentinel, [*TO_SENTINEL, "--stale", "soon"], "--stale: 'soon' is not a duration such as"),
    "a URL that is none": (sentinel, [*TO_SENTINEL, "--api", "host"], "--api: must be an http:// or https:// URL"),
    "resources that are none": (sentinel, [*TO_SENTINEL, "--resource-type", "pods"], "invalid choice: 'pods'"),
}


@pytest.mark.parametrize(("command", "arguments", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_wrong_option_is_named(
    command: Callable[[Sequence[str]], int],
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        command(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
