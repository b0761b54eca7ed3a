"""`test`: rehearses every case of a folder and compares the traces with what is expected."""

import argparse
import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from dispatcher.cli.terminal import UsageError, answer
from dispatcher.dryrun.cases import Case, Verdict, find_cases, record, run_case
from shared import logs
from shared.errors import Misconfigured

_EXAMPLES = """\
a case is a folder with event.json and expected.json, and api-responses.json, discovery.json, secrets.json or
environment.json as it needs them; adapter-config.yaml and task-config.yaml are there or in a folder above.
expected.json is the JSON trace, or the part of it that matters: keys it does not name are not compared.

examples:
  hyperfleet-adapter test cases/
  hyperfleet-adapter test cases/ --junit results.xml
  hyperfleet-adapter test cases/deletion --update     # after a look at what changed

exit code: 0 all passed, 1 some failed, 2 there is nothing to test
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Rehearses every test case below a folder."
    parser.epilog = _EXAMPLES
    parser.add_argument("folder", metavar="DIR", type=Path, help="where the cases are")
    parser.add_argument("-c", "--config", metavar="FILE", type=Path, help="adapter config of all cases")
    parser.add_argument("-t", "--task-config", metavar="FILE", type=Path, help="task config of all cases")
    parser.add_argument("--junit", metavar="FILE", type=Path, help="also write the results as JUnit XML")
    parser.add_argument("--update", action="store_true", help="make what happens now what is expected")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    logs.configure_from({"LOG_LEVEL": "error", "LOG_FORMAT": "text"}, component="test", version="")
    cases = _cases(arguments)
    if arguments.update:
        return _update(cases)
    verdicts = asyncio.run(_run_all(cases))
    for line in _table(verdicts):
        answer(line)
    if arguments.junit:
        _write(arguments.junit, _junit(verdicts))
    return 1 if any(verdict.differences for verdict in verdicts) else 0


def _cases(arguments: argparse.Namespace) -> list[Case]:
    try:
        cases = list(find_cases(arguments.folder, adapter_config=arguments.config, task_config=arguments.task_config))
    except Misconfigured as error:
        raise UsageError(str(error)) from None
    if not arguments.folder.is_dir():
        raise UsageError(f"there is no folder {arguments.folder}")
    if not cases:
        raise UsageError(f"{arguments.folder}: no folder in it has an event.json and an expected.json")
    return cases


def _update(cases: Sequence[Case]) -> int:
    for case in cases:
        try:
            asyncio.run(record(case, os.environ))
        except Misconfigured as error:
            raise UsageError(f"{case.name}: {error}") from None
        answer(f"{case.name}: expected.json is what happens now")
    return 0


async def _run_all(cases: Sequence[Case]) -> list[Verdict]:
    return [await run_case(case, os.environ) for case in cases]


def _table(verdicts: Sequence[Verdict]) -> list[str]:
    width = max(len(verdict.case.name) for verdict in verdicts)
    lines = []
    for verdict in verdicts:
        lines.append(f"{verdict.case.name:<{width}}  {'FAILED' if verdict.differences else 'passed'}")
        lines += [f"  {each}" for each in verdict.differences]
    failed = sum(1 for verdict in verdicts if verdict.differences)
    return [*lines, f"{len(verdicts) - failed} passed, {failed} failed"]


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise UsageError(
            f"{file}: {error.strerror or 'cannot be written'}; name a file in a folder that exists"
        ) from None


def _junit(verdicts: Sequence[Verdict]) -> bytes:
    failed = sum(1 for verdict in verdicts if verdict.differences)
    suite = ET.Element("testsuite", name="hyperfleet-adapter", tests=str(len(verdicts)), failures=str(failed))
    for verdict in verdicts:
        case = ET.SubElement(suite, "testcase", classname="adapter", name=verdict.case.name)
        if verdict.differences:
            failure = ET.SubElement(case, "failure", message=verdict.differences[0])
            failure.text = "\n".join(verdict.differences)
    return bytes(ET.tostring(suite, encoding="utf-8", xml_declaration=True))
