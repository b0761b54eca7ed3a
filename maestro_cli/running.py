"""One command from its arguments to its exit code: errors become a sentence, and a result is always written."""

import argparse
import asyncio
import contextlib
import importlib
import logging
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from maestro_cli.command_line import PROGRAM
from maestro_cli.commands.session import Session
from maestro_cli.exits import Exit, Terminated, UsageError, exit_code
from maestro_cli.output.printing import print_note
from maestro_cli.results import ResultsFile
from maestro_cli.waiting import InvalidExpression
from shared.errors import HyperFleetError
from shared.redaction import redact_text


def run(arguments: argparse.Namespace, environment: Mapping[str, str], stops: Sequence[int]) -> int:
    """`stops` has the SIGTERM that came while this was loaded."""
    _set_up_logs(verbose=getattr(arguments, "verbose", False), environment=environment)
    return asyncio.run(_until_terminated(arguments, environment, stops))


def refuse(problem: str, written: Sequence[str], environment: Mapping[str, str]) -> int:
    """The end of a command line that cannot be understood: a sentence and, where asked for, a result."""
    print_note(f"{PROGRAM}: {problem}")
    finder = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    finder.add_argument("--results-path", default=environment.get("RESULTS_PATH", ""))
    with contextlib.suppress(HyperFleetError, argparse.ArgumentError):
        path = finder.parse_known_args(written)[0].results_path
        ResultsFile(Path(path) if path else None).write_failure(UsageError(problem))
    return int(Exit.USAGE)


async def execute(arguments: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """The exit code. Raises nothing that is a user's or a server's fault."""
    results = _results(arguments, environment)
    session = Session(arguments=arguments, environment=environment, results=results)
    command = importlib.import_module(f"maestro_cli.commands.{arguments.module}")
    try:
        return int(await command.run(session) or Exit.OK)
    except HyperFleetError as error:
        text = error.explain() if isinstance(error, InvalidExpression) else str(error)
        print_note(f"{PROGRAM}: {redact_text(text)}")
        with contextlib.suppress(HyperFleetError):
            results.write_failure(error)
        return int(exit_code(error))
    except asyncio.CancelledError:
        results.write_failure(Terminated("the command was stopped before it ended"))
        raise


async def _until_terminated(arguments: argparse.Namespace, environment: Mapping[str, str], stops: Sequence[int]) -> int:
    task = asyncio.ensure_future(execute(arguments, environment))
    terminated = False

    def terminate() -> None:
        nonlocal terminated
        terminated = True
        task.cancel()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, terminate)
    if stops:
        loop.call_soon(terminate)  # once the task has begun: it writes the result
    try:
        return await task
    except asyncio.CancelledError:
        if not terminated:
            raise
        return int(Exit.TERMINATED)


def _results(arguments: argparse.Namespace, environment: Mapping[str, str]) -> ResultsFile:
    path = getattr(arguments, "results_path", "") or environment.get("RESULTS_PATH", "")
    return ResultsFile(Path(path) if path else None, getattr(arguments, "results_format", "report"))


def _set_up_logs(*, verbose: bool, environment: Mapping[str, str]) -> None:
    level = logging.DEBUG if verbose else logging.WARNING
    stream = sys.stdout if environment.get("LOG_OUTPUT") == "stdout" else sys.stderr
    logging.basicConfig(level=level, stream=stream, format="%(levelname)s %(name)s: %(message)s")
