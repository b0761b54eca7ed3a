"""README, CONTRIBUTING and docs/ name files and folders that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[\w-]+)?\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


def test_the_contributor_guide_names_modules_that_exist() -> None:
    named = re.findall(r"`((?:dispatcher|tests)/[\w/.]+)`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert named
    assert [each for each in named if not (ROOT / each).exists()] == []
