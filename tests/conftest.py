"""What holds for every test: imported suites explain their failures, and no layer passes by being skipped."""

import os
from collections import Counter
from pathlib import Path

import pytest

_CONTRACTS = Path(__file__).with_name("contracts")
pytest.register_assert_rewrite(*(f"tests.contracts.{file.stem}" for file in _CONTRACTS.glob("*.py")))

# Or its library tells of every connection that a test has broken.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

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
