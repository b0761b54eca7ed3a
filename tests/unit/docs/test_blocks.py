"""Every fenced block of every page: commands that our programs take, files that are there, documents that can be read.

What a page shows as printed is compared with what is printed by the test in `COMPARED`, or `RECORDED` says what it is.
"""

import ast
import importlib.util
import json
import re
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import pytest
import yaml

import benchmarks
from controlplane_adapter.check.command import build_parser as check_parser
from dispatcher.cli.main import build_parser as adapter_parser
from lab.demo.__main__ import build_parser as lab_parser
from lab.real.cluster.command import build_parser as cluster_parser
from maestro_cli.command_line import parse as parse_maestro_cli
from status_reporter.writing import build_parser as report_parser
from tests.support.page_blocks import PageBlock, blocks_of, commands_of

ROOT = Path(__file__).parents[3]
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "jobs/**/*.md", "charts/**/*.md")
    for page in ROOT.glob(pattern)
    if page.name != "CHANGELOG.md"
)
BLOCKS = [block for page in PAGES for block in blocks_of(page, ROOT)]
# Pages whose blocks are run from the first to the last, or compared with what a run printed.
COMPARED = {
    "docs/configuration.md": "tests/unit/config/test_documentation.py",
    "docs/install-the-system.md": "tests/e2e/cluster/system/test_install_page.py",
    "docs/languages.md": "tests/conformance/test_language_docs.py",
    "docs/maestro-cli.md": "tests/integration/maestro_cli/test_walk_through.py",
    "docs/maestro-guide.md": "tests/integration/pages/test_walkthroughs.py",
    "docs/try-it.md": "tests/e2e/pages/test_try_it.py",
    "docs/tutorial.md": "tests/conformance/test_tutorial.py",
    "docs/what-a-person-sees.md": "tests/e2e/cluster/test_what_a_person_sees.py",
    "docs/writing-an-adapter.md": "tests/conformance/test_writing_an_adapter.py",
}
# Blocks, by their page and their beginning, that no test can compare, and why.
RECORDED = {
    ("docs/controlplane-adapter.md", "GET <url>"): "the question to a service that the operator brings",
    ("docs/prerequisites.md", "$ controlplane-adapter check"): "the answers of a Maestro that is an example",
    ("docs/real-cluster.md", "             3.6 s"): "how long each step of one start took",
    ("docs/soak.md", "12 clusters"): "the table of one run",
    ("docs/soak.md", "200 clusters"): "the table of one run",
    ("docs/writing-an-adapter.md", "$ hyperfleet-adapter diff"): "what tests/contracts/diff prints for 200 objects",
}
KINDS = {"", "cel", "console", "jsonpath", "json", "python", "sh", "sh server", "template", "text", "yaml"}
DRAWN = frozenset("─│▶◀▲▼└┘┐┌├┴┼┬")
Check = Callable[[list[str]], object]
"""Raises where the arguments cannot be right."""


def _missing(name: str) -> NoReturn:
    raise FileNotFoundError(name)


def _existing(*paths: str) -> None:
    for path in paths:
        if not (ROOT / path).exists():
            _missing(path)


def _benchmarks(names: list[str]) -> None:
    for name in names:
        if importlib.util.find_spec(f"{benchmarks.__name__}.{name}") is None:
            _missing(name)


def _pytest(arguments: list[str]) -> None:
    _existing(*[each for each in arguments if each.startswith("tests/")])


def _unchecked(_: list[str]) -> None:
    """A program that is not ours."""


MODULES: dict[str, Check] = {
    "benchmarks": _benchmarks,
    "json.tool": _unchecked,
    "lab.real.cluster.command": lambda arguments: cluster_parser().parse_args(arguments),
    "pytest": _pytest,
}


def _python(arguments: list[str]) -> None:
    if arguments[0] == "-m":
        MODULES[arguments[1]](arguments[2:])


def _make(arguments: list[str]) -> None:
    targets = re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for each in arguments:
        if each[0] != "-" and "=" not in each and each not in targets:
            _missing(each)


def _helm(arguments: list[str]) -> None:
    chart = next((ROOT / each for each in arguments if each.startswith("charts/")), None)
    for option, value in pairwise(arguments):
        name, _, setting = value.partition("=")
        if option == "-f" and not value.startswith("/tmp/"):
            _existing(value)
        if option == "--set-file":
            _existing(setting)
        if option.startswith("--set") and chart is not None:
            _value_of(chart, name)


def _value_of(chart: Path, name: str) -> None:
    """The chart's strict schema knows the value."""
    schema = json.loads((chart / "values.schema.json").read_text())
    for key in re.split(r"(?<!\\)\.", name):
        schema = schema.get("properties", {}).get(key) or schema["additionalProperties"]
        if not schema:
            _missing(name)


def _kubectl(arguments: list[str]) -> None:
    for option, value in pairwise(arguments):
        if option == "-f" and value.startswith("jobs/"):
            _existing(value)


PROGRAMS: dict[str, Check] = {
    "adapter-report": lambda arguments: report_parser().parse_args(arguments),
    "controlplane-adapter": lambda arguments: check_parser().parse_args(arguments[1:]) if arguments else None,
    "helm": _helm,
    "hyperfleet-adapter": lambda arguments: adapter_parser().parse_args(arguments),
    "hyperfleet-lab": lambda arguments: lab_parser().parse_args(arguments),
    "kubectl": _kubectl,
    "maestro-cli": parse_maestro_cli,
    "make": _make,
    "python": _python,
    "python3": _python,
}


def of_kind(*kinds: str) -> list[Any]:
    return [pytest.param(block, id=str(block)) for block in BLOCKS if block.kind in kinds]


def test_every_block_says_what_it_is() -> None:
    assert len(BLOCKS) > 100
    assert [str(block) for block in BLOCKS if block.kind not in KINDS] == []
    assert [str(block) for block in BLOCKS if not block.kind and not DRAWN & set(block.content)] == []


@pytest.mark.parametrize("block", of_kind("sh", "sh server"))
def test_a_script_can_be_read_by_a_shell_and_its_commands_by_their_programs(block: PageBlock) -> None:
    subprocess.run(["bash", "-n"], input=block.content, text=True, check=True, timeout=60)
    for program, *arguments in commands_of(block.content):
        PROGRAMS.get(Path(program).name, _unchecked)(arguments)


@pytest.mark.parametrize("block", of_kind("console"))
def test_the_commands_of_a_session_can_be_read_by_their_programs(block: PageBlock) -> None:
    commands = re.findall(r"^\$ ((?:.*\\\n)*.*)$", block.content, re.MULTILINE)
    assert commands
    for program, *arguments in commands_of("\n".join(commands)):
        PROGRAMS.get(Path(program).name, _unchecked)(arguments)


@pytest.mark.parametrize("block", of_kind("json", "yaml"))
def test_a_document_can_be_read(block: PageBlock) -> None:
    content = re.sub(r"^(#|//) [\w./-]+\n", "", block.content)
    if block.kind == "json":
        assert json.loads(content)
    else:
        yaml.safe_load(content)


@pytest.mark.parametrize("block", of_kind("python"))
def test_a_program_compiles_and_its_modules_exist(block: PageBlock) -> None:
    tree = compile(block.content, str(block), "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    assert [name for name in modules if importlib.util.find_spec(name) is None] == []


def test_what_is_shown_as_printed_is_compared_with_what_is_printed() -> None:
    shown = [block for block in BLOCKS if block.kind in {"console", "text"}]
    recorded = [block for block in shown if any(_is(block, *each) for each in RECORDED)]
    assert len(recorded) == len(RECORDED)
    assert [str(block) for block in shown if block not in recorded and block.page not in COMPARED] == []


def _is(block: PageBlock, page: str, beginning: str) -> bool:
    return block.page == page and block.content.startswith(beginning)


@pytest.mark.parametrize(("page", "test"), COMPARED.items())
def test_the_test_of_a_page_names_it(page: str, test: str) -> None:
    assert Path(page).name in (ROOT / test).read_text(encoding="utf-8")
