"""For all tests: the option --servers, assertion details in support code, and no layer passes by being skipped."""

import logging
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from shared import redaction

_SUPPORT = Path(__file__).with_name("support")
pytest.register_assert_rewrite(*(f"tests.support.{file.stem}" for file in _SUPPORT.glob("*.py")))

# Or gRPC logs every connection that a test breaks.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

# A shell starts background jobs with SIGINT ignored, and so would be every process that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A loaded machine draws examples slowly; that says nothing about the code.
settings.register_profile("any-machine", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.load_profile("any-machine")


@pytest.fixture(autouse=True)
def _log_level_as_before() -> Iterator[None]:
    """A program under test sets the level of the whole process; the next test must not notice."""
    root = logging.getLogger()
    level = root.level
    yield
    root.setLevel(level)


@pytest.fixture(autouse=True)
def _secrets_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret that a program under test reads is redacted in the whole process; the next test must not notice."""
    monkeypatch.setattr(redaction, "_registered", dict(redaction._registered))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--servers",
        choices=("standin", "real", "both"),
        default="standin",
        help="what the tests in tests/contracts run on: the lab's stand-ins, which need nothing (default), or the real"
        " servers, which need Go, Debian packages and root",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each contract test asks for `servers`, through its fixture `server`, and runs once for each chosen kind."""
    if "servers" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--servers")
        metafunc.parametrize("servers", ["standin", "real"] if chosen == "both" else [chosen], scope="session")


_ran: Counter[str] = Counter()
_skipped: Counter[str] = Counter()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    layer = "/".join(Path(report.nodeid.split("::")[0]).parts[:2])
    if report.skipped:
        _skipped[layer] += 1
    elif report.when == "call":
        _ran[layer] += 1


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workerinput"):
        return  # one of several processes, which sees only its share
    silent = sorted(layer for layer in _skipped if not _ran[layer])
    if silent:
        print(f"\nevery test of {', '.join(silent)} was skipped: a layer that shows nothing is a failure")  # noqa: T201
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
