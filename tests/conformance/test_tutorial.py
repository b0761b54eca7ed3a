"""docs/tutorial.md is true: its files are written, its commands run, and they print what the page shows."""

from pathlib import Path

from tests.support.pages import blocks, run_console

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text(encoding="utf-8")
# The chapter that needs the lab is followed by tests/integration/pages.
BLOCKS = blocks(PAGE.split("\n## 6. ")[0])


def test_every_command_prints_what_the_page_shows(tmp_path: Path) -> None:
    for language, block in BLOCKS:
        if language == "console":
            run_console(block, tmp_path)
        else:
            first, content = block.split("\n", 1)
            (tmp_path / first.split(" ", 1)[1]).write_text(content if language == "json" else block)


def test_the_page_has_commands_and_files() -> None:
    assert {language for language, _ in BLOCKS} == {"console", "yaml", "json"}
