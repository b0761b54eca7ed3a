"""The corpus of adapters: each case is rehearsed and its trace compared, the JSON and the text, to the last character.

The cases are folders under `adapters/`; `hyperfleet-adapter test` runs the same ones. After a wanted change of behaviour:
`hyperfleet-adapter test tests/conformance/adapters --update`, and a look at the difference.
"""

import json
from pathlib import Path

import pytest

from dispatcher.config.findings import ConfigError
from dispatcher.config.loading import load
from dispatcher.dryrun.cases import Case, find_cases, play, trace_of
from dispatcher.dryrun.text_trace import text_trace

ROOT = Path(__file__).with_name("adapters")
CASES = list(find_cases(ROOT))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
async def test_the_trace_is_what_it_was(case: Case) -> None:
    rehearsals = await play(case, {})

    assert trace_of(rehearsals) == json.loads((case.folder / "expected.json").read_text())
    assert text_trace(rehearsals, verbose=False) == (case.folder / "expected.txt").read_text()


def test_the_corpus_is_as_large_as_it_should_be() -> None:
    assert len({case.task_config for case in CASES}) >= 25


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name.startswith("secrets/")], ids=lambda case: case.name
)
async def test_no_trace_shows_a_secret(case: Case) -> None:
    rehearsals = await play(case, {})

    shown = json.dumps(trace_of(rehearsals)) + text_trace(rehearsals, verbose=True)
    for secret in ("s3cr3t", "czNjcjN0"):
        assert secret not in shown


def test_the_guide_s_ternary_without_parentheses_is_refused_with_its_place(tmp_path: Path) -> None:
    """cel-go refuses it as well; the authoring guide has it in its section on feedback."""
    task = tmp_path / "task-config.yaml"
    task.write_text(
        """\
params: []
post:
  payloads:
    - name: statusPayload
      build:
        status:
          expression: |
            resources.?namespace0.?statusFeedback.?values.orValue([])
              .filter(v, v.name == "phase").size() > 0
              ? resources.namespace0.statusFeedback.values
                  .filter(v, v.name == "phase")[0].fieldValue.string == "Active"
                  ? "True"
                  : "False"
              : "Unknown"
"""
    )
    config = tmp_path / "adapter-config.yaml"
    config.write_text("adapter: {name: a}\n")

    with pytest.raises(ConfigError) as refused:
        load(config, task, environment={})

    assert f"{task}:12:19" in str(refused.value)
