"""The pages for newcomers name files and functions; each of them exists."""

import ast
import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3]
PAGES = [
    PROJECT / "CONTRIBUTING.md",
    PROJECT / "docs" / "architecture.md",
    PROJECT / "docs" / "glossary.md",
    *sorted((PROJECT / "docs" / "decisions").glob("*.md")),
]
FILE_AND_NAME = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|yaml|json|md))`(?: `([\w.]+)`)?")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
HOP = re.compile(r"(?m)^\| \d+ \|.*$")


def named() -> list[tuple[str, str, str]]:
    return [(page.name, file, name) for page in PAGES for file, name in FILE_AND_NAME.findall(page.read_text("utf-8"))]


def has(body: list[ast.stmt], dotted: str) -> bool:
    first, _, rest = dotted.partition(".")
    for node in body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name == first and (not rest or has(node.body, rest)):
                    return True
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                if name == first and not rest:
                    return True
    return False


@pytest.mark.parametrize(("page", "file", "name"), named())
def test_a_named_file_has_the_named_function(page: str, file: str, name: str) -> None:
    path = PROJECT / file
    assert path.is_file(), f"{page} names {file}, which is not there"
    if name:
        assert has(ast.parse(path.read_text("utf-8")).body, name), f"{page}: {file} has no {name}"


def test_every_hop_of_the_worked_run_names_a_file() -> None:
    hops = HOP.findall((PROJECT / "docs" / "architecture.md").read_text("utf-8"))
    assert hops
    assert [hop for hop in hops if not FILE_AND_NAME.search(hop)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_other_pages_lead_somewhere(page: Path) -> None:
    links = LINK.findall(page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []
