"""docs/try-it.md as a newcomer follows it: every command in order, and what it says beneath them is what is printed."""

from pathlib import Path

from lab.real.artifacts.kubernetes import program
from tests.support.walkthroughs import follow

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "try-it.md"


def test_every_command_works_and_prints_what_the_page_says(tmp_path: Path) -> None:
    kubectl = Path(program("kubectl")).parent
    follow(PAGE.read_text(encoding="utf-8"), cwd=ROOT, folder=tmp_path, ports=("18000", "18090"), programs=(kubectl,))
