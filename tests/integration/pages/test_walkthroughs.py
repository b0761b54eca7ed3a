"""Pages whose commands need nothing but this project, followed as a newcomer follows them."""

import re
from pathlib import Path

from tests.support.pages import blocks
from tests.support.walkthroughs import follow

DOCS = Path(__file__).parents[3] / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_the_maestro_guide_runs_from_its_first_block_to_its_last(tmp_path: Path) -> None:
    program = "\n".join(text for language, text in blocks(page("maestro-guide.md")) if language == "python")
    (tmp_path / "guide.py").write_text(program)
    follow(page("maestro-guide.md"), cwd=tmp_path, folder=tmp_path, ports=("18000", "18090"))


def test_the_adapter_of_the_tutorial_runs_in_the_lab(tmp_path: Path) -> None:
    """The last chapter, with the adapter as `init` writes it."""
    first, last = page("tutorial.md").split("\n## 6. ")
    (command,) = re.findall(r"^\$ (hyperfleet-adapter init .+)$", first, re.MULTILINE)
    follow(f"```sh\n{command}\n```\n{last}", cwd=tmp_path, folder=tmp_path, ports=("18080", "18090"))
