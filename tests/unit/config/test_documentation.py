"""docs/configuration.md lists every setting and rule of the models; docs/differences.md names a test for each defect."""

import re
from pathlib import Path

import pytest

from dispatcher.cli.main import main
from dispatcher.config.rules import RULES
from tests.support.config_tables import PAGE, TABLES, with_tables

ROOT = Path(__file__).parents[3]
DIFFERENCES = ROOT / "docs" / "differences.md"


def test_the_tables_are_those_of_the_models() -> None:
    """Otherwise run `python -m tests.support.config_tables`."""
    page = PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"<!-- table: (\w+) -->", page)) == TABLES.keys()
    assert with_tables(page) == page


def test_every_rule_says_what_it_is_about() -> None:
    assert all(meaning.endswith(".") and re.fullmatch(r"[a-z-]+", rule) for rule, meaning in RULES.items())


def test_the_shown_finding_is_what_validate_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = re.findall(r"```text\n(error: task-config.yaml:14.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    _, mistaken, *_ = shown.splitlines()
    params = ["params:", "  - {name: clusterId, source: event.id, required: true}"]
    precondition = ["preconditions:", "  - name: known", mistaken.removeprefix("    ")]
    comments = ["# and so on"] * (14 - len(params) - len(precondition))
    task = [*params, *comments, *precondition]
    (tmp_path / "task-config.yaml").write_text("\n".join(task) + "\n")
    (tmp_path / "adapter-config.yaml").write_text("adapter: {name: demo}\n")
    main(["validate", "-c", str(tmp_path / "adapter-config.yaml"), "-t", str(tmp_path / "task-config.yaml")])

    printed = capsys.readouterr()
    assert shown in (printed.out + printed.err).replace(f"{tmp_path}/", "")


def defects() -> list[tuple[int, str, str, str]]:
    """Number, beginning of a row, file and test, as the last section of the page has them."""
    row = r"^\| (\d+) \| (.*) … \| `(tests/\S+\.py)` \| `(test_\w+)` \|$"
    return [(int(number), *rest) for number, *rest in re.findall(row, DIFFERENCES.read_text(), re.MULTILINE)]


def test_every_defect_of_the_go_framework_has_a_test_and_a_row() -> None:
    assert {number for number, *_ in defects()} == set(range(1, 26)) - {12, 21}


@pytest.mark.parametrize(("number", "row", "file", "test"), defects(), ids=lambda value: str(value)[:60])
def test_a_defect_s_row_and_test_are_there(number: int, row: str, file: str, test: str) -> None:
    first_cells = [line.split(" | ")[0] for line in DIFFERENCES.read_text().splitlines() if line.startswith("| ")]
    assert any(row in cell for cell in first_cells), f"{number}: no row of the page has {row!r}"
    assert re.search(rf"def {test}\(", (ROOT / file).read_text()), f"{number}: {file} has no {test}"
