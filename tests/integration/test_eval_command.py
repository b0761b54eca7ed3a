"""The author's playground, run as its users run it: a process with arguments, files and exit codes."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CLUSTER = {
    "name": "c1",
    "generation": 1000000,
    "conditions": [{"type": "Ready", "status": "True"}, {"type": "Available", "status": "False"}],
    "created": "2030-01-01T00:00:00Z",
}
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run(*arguments: str, stdin: str = "", **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "dispatcher.cli", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=240,
            check=False,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **environment},
            cwd=tmp_path,
        )

    return run


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    (tmp_path / "cluster.json").write_text(json.dumps(CLUSTER), encoding="utf-8")
    return "cluster.json"


@pytest.mark.parametrize(
    ("language", "expression", "printed"),
    [
        pytest.param("cel", "generation + 1", "1000001", id="a CEL number"),
        pytest.param("cel", "name + '!'", "c1!", id="a CEL text, without quotes"),
        pytest.param("cel", "conditions.exists(c, c.type == 'Ready')", "true", id="a CEL boolean"),
        pytest.param("cel", "[1, null]", "[\n  1,\n  null\n]", id="a CEL list"),
        pytest.param("template", "{{ .name | upper }}-{{ .generation }}", "C1-1000000", id="a template"),
        pytest.param("jsonpath", "{.conditions[?(@.type=='Ready')].status}", "True", id="a JSONPath"),
        pytest.param(
            "jsonpath", "conditions[*].type", '[\n  "Ready",\n  "Available"\n]', id="a JSONPath with several results"
        ),
        pytest.param("jsonpath", "{.conditions[?(@.type=='x')]}", "null", id="a JSONPath without a result"),
    ],
)
def test_a_value_is_printed_and_the_exit_code_is_0(
    run: Run, cluster: str, language: str, expression: str, printed: str
) -> None:
    done = run("eval", language, expression, "--vars", cluster)
    assert (done.returncode, done.stdout, done.stderr) == (0, printed + "\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["jsonpath", "-o", "json", "--vars", "CLUSTER", "name"], id="options before the expression"),
        pytest.param(["-o", "json", "jsonpath", "--vars", "CLUSTER", "name"], id="options around the language"),
        pytest.param(["jsonpath", "--vars", "CLUSTER", "name", "-o", "json"], id="options on both sides"),
        pytest.param(["cel", "--vars", "CLUSTER", "-o", "json", "--", "name"], id="behind two dashes"),
    ],
)
def test_options_may_stand_before_the_expression(run: Run, cluster: str, arguments: list[str]) -> None:
    done = run("eval", *(cluster if each == "CLUSTER" else each for each in arguments))
    assert (done.returncode, done.stdout, done.stderr) == (0, '"c1"\n', "")


def test_a_negative_number_goes_behind_two_dashes_wherever_they_stand(run: Run) -> None:
    assert run("eval", "cel", "-o", "json", "--", "-1 + 2").stdout == "1\n"
    assert run("eval", "cel", "-o", "json", "--", "1", "2").returncode == 2


def test_json_output_quotes_a_text(run: Run, cluster: str) -> None:
    assert run("eval", "cel", "name", "--vars", cluster, "-o", "json").stdout == '"c1"\n'


@pytest.mark.parametrize(
    ("language", "expression", "expected"),
    [
        ("cel", "conditions[7].type", ["error: line 1, column 11: ", "  conditions[7].type", "^"]),
        ("template", "{{ .name.first }}", ["error: line 1, column ", "  {{ .name.first }}", "^"]),
        (
            "jsonpath",
            "conditions[0].state",
            ["error: line 1, column 14: no key 'state'", "  conditions[0].state", "^^^^^^"],
        ),
    ],
)
def test_a_failed_evaluation_points_at_its_place_and_ends_with_1(
    run: Run, cluster: str, language: str, expression: str, expected: list[str]
) -> None:
    done = run("eval", language, expression, "--vars", cluster)
    assert (done.returncode, done.stdout) == (1, "")
    first, source, caret, *_ = done.stderr.splitlines()
    assert first.startswith(expected[0])
    assert source == expected[1]
    assert caret.strip() == expected[2]


@pytest.mark.parametrize(
    ("language", "expression", "caret_below"),
    [
        pytest.param("cel", "name +", "", id="CEL that ends too early"),
        pytest.param("cel", "nmae + 'x'", "n", id="a CEL variable that is not there"),
        pytest.param("template", "{{ .name", "", id="a template that is not closed"),
        pytest.param("template", "{{ .nmae }}", ".", id="a template variable that is not there"),
        pytest.param("jsonpath", "conditions[?(@.type==Ready)]", "R", id="a JSONPath text without quotes"),
    ],
)
def test_a_source_that_is_refused_points_at_its_place_and_ends_with_2(
    run: Run, cluster: str, language: str, expression: str, caret_below: str
) -> None:
    done = run("eval", language, expression, "--vars", cluster)
    assert (done.returncode, done.stdout) == (2, "")
    first, source, caret, *_ = done.stderr.splitlines()
    assert first.startswith("rejected: line 1, column ")
    assert source == f"  {expression}"
    assert source[caret.index("^") : caret.index("^") + 1] == caret_below or not caret_below


def test_json_output_tells_an_error_as_json_too(run: Run, cluster: str) -> None:
    done = run("eval", "jsonpath", "conditions[0].state", "--vars", cluster, "-o", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout) == {
        "outcome": "error",
        "kind": "MissingKey",
        "problem": "no key 'state'",
        "line": 1,
        "column": 14,
        "hint": None,
        "fragment": ".state",
        "met": "an object with the keys type, status",
    }
    assert "^^^^^^" in done.stderr


@pytest.mark.parametrize(
    ("language", "expression", "printed"),
    [
        ("cel", "now()", "2030-01-02T03:04:05Z"),
        ("cel", "timestamp(now()) - timestamp(created)", "97445s"),
        ("template", '{{ now | date "2006-01-02" }}', "2030-01-02"),
    ],
)
def test_the_clock_can_be_stopped(run: Run, cluster: str, language: str, expression: str, printed: str) -> None:
    done = run("eval", language, expression, "--vars", cluster, "--now", "2030-01-02T03:04:05Z")
    assert (done.stdout.strip(), done.stderr) == (printed, "")


def test_variables_come_from_standard_input_too(run: Run) -> None:
    assert run("eval", "cel", "a", "--vars", "-", stdin='{"a": 1}').stdout == "1\n"


def test_variables_may_be_yaml_whose_dates_stay_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "vars.yaml").write_text("day: 2030-01-02\nxs: [1, {y: true}]\n", encoding="utf-8")
    done = run("eval", "jsonpath", "{@}", "--vars", "vars.yaml", "-o", "json")
    assert json.loads(done.stdout) == {"day": "2030-01-02", "xs": [1, {"y": True}]}


def test_no_variables_are_needed(run: Run) -> None:
    assert run("eval", "cel", "1 + 1").stdout == "2\n"


def test_an_expression_may_start_with_a_minus(run: Run) -> None:
    assert run("eval", "cel", "--", "-1 + 2").stdout == "1\n"


def test_text_that_the_terminal_cannot_show_is_no_failure(run: Run) -> None:
    done = run("eval", "cel", "s", "--vars", "-", stdin='{"s": "é \\ud800"}', LC_ALL="C", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stdout) == (0, "é \ufffd\n")


CASES: list[dict[str, Any]] = [
    {"expr": "a + 1", "vars": {"a": 1}},
    {"expr": "a"},
    {"expr": "a", "vars": {"a": "two\nlines"}},
    {"expr": "1 / 0"},
]


def test_many_cases_give_one_line_each(run: Run) -> None:
    done = run("eval", "cel", "--cases", "-", stdin=json.dumps(CASES))
    lines = done.stdout.splitlines()
    assert [lines[0], lines[2]] == ["2", '"two\\nlines"']
    assert lines[1].startswith("rejected: line 1, column 1: ")
    assert lines[3].startswith("error: line 1, column ")
    assert len(lines) == len(CASES)
    assert "case 2: rejected: " in done.stderr
    assert "case 4: error: " in done.stderr
    assert done.returncode == 2


def test_many_cases_give_one_json_object_each(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cases.json").write_text(json.dumps(CASES), encoding="utf-8")
    done = run("eval", "cel", "--cases", "cases.json", "--vars", "-", "-o", "json", stdin='{"a": 7}')
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["outcome"] for each in answers] == ["value", "value", "value", "error"]
    assert [each.get("value") for each in answers] == [2, 7, "two\nlines", None]
    assert done.returncode == 1


def test_many_cases_that_all_have_a_value_end_with_0(run: Run) -> None:
    assert run("eval", "jsonpath", "--cases", "-", stdin='[{"expr": "a", "vars": {"a": 1}}]').returncode == 0


@pytest.mark.parametrize(
    ("arguments", "stdin", "expected"),
    [
        pytest.param(["cel", "a", "--vars", "no.json"], "", "no.json: No such file or directory; name a file", id="no such file"),
        pytest.param(["cel", "a", "--vars", "."], "", ".: Is a directory; name a file", id="a folder"),
        pytest.param(["cel", "a", "--vars", "-"], '{"a": 1,\n "b" 2}', "standard input, line 2, column 6: not JSON: ", id="bad JSON"),
        pytest.param(["cel", "a", "--vars", "-"], "a: [1\nb: 2", "standard input, line 2, column 2: not YAML: ", id="bad YAML"),
        pytest.param(["cel", "a", "--vars", "-"], "a: !!binary eA==", "not YAML: could not determine a constructor", id="YAML beyond JSON"),
        pytest.param(["cel", "a", "--vars", "-"], "[" * 100_000, "standard input: a number or a nesting in it is too large", id="JSON too deep"),
        pytest.param(["cel", "a", "--vars", "-"], "[1]", "the variables of cel are an object", id="variables that are a list"),
        pytest.param(["template", "{{ .a }}", "--vars", "-"], "", "the variables of template are an object", id="no variables at all"),
        pytest.param(["jsonpath", "{@}", "--vars", "-"], "&a [*a]", "the value is nested too deeply", id="a document that holds itself"),
        pytest.param(["cel", "--cases", "-"], "{}", "not a list; write [", id="cases that are no list"),
        pytest.param(["cel", "--cases", "-"], '[{"expr": "1"}, {"exp": "1"}]', 'case 2 is not {"expr": text', id="a case without an expression"),
        pytest.param(["cel", "a", "--cases", "-"], "", "give either EXPR or --cases FILE", id="an expression and cases"),
        pytest.param(["cel"], "", "give either EXPR or --cases FILE", id="neither"),
        pytest.param(["cel", "--cases", "-", "--vars", "-"], "", "only one of --vars and --cases", id="standard input twice"),
        pytest.param(["cel", "1", "--now", "today"], "", "'today' is no time with a zone", id="a time that is none"),
        pytest.param(["sql", "1"], "", "invalid choice: 'sql'", id="a language that is not there"),
    ],
)  # fmt: skip
def test_a_mistake_of_the_user_is_reported_in_a_sentence_and_ends_with_2(
    run: Run, arguments: list[str], stdin: str, expected: str
) -> None:
    done = run("eval", *arguments, stdin=stdin)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_failure(run: Run) -> None:
    piped = f"{sys.executable} -m dispatcher.cli eval cel 'lists.range(50000)' | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {piped}"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[\n", "")


def test_help_teaches_by_example(run: Run) -> None:
    done = run("eval", "--help")
    assert done.returncode == 0
    for language in ("cel", "template", "jsonpath"):
        assert f"hyperfleet-adapter eval {language} " in done.stdout


@pytest.mark.parametrize("language", ["cel", "template", "jsonpath"])
def test_only_the_language_that_is_used_is_loaded(run: Run, language: str) -> None:
    packages = {"cel": "cel", "template": "gotemplate", "jsonpath": "jsonpath"}
    done = run("eval", language, "x", "--vars", "-", stdin='{"x": 1}', PYTHONPROFILEIMPORTTIME="1")
    loaded = {name for name, package in packages.items() if f"shared.languages.{package}.program\n" in done.stderr}
    assert loaded == {language}
    assert "yaml" not in done.stderr


COMPLETIONS = {
    "hyperfleet-adapter ev": ["eval"],
    "hyperfleet-adapter eval te": ["template"],
    "hyperfleet-adapter eval cel x -o ": ["text", "json"],
    "hyperfleet-adapter eval cel --ca": ["--cases"],
    "hyperfleet-adapter eval cel x --vars clu": ["cluster.json"],
    "hyperfleet-adapter completion b": ["bash"],
}


def test_bash_completes_what_was_typed(run: Run, cluster: str, tmp_path: Path) -> None:
    script = [run("completion", "bash").stdout]
    for typed in COMPLETIONS:
        words = typed.split(" ")
        script += [
            f"COMP_WORDS=({' '.join(map(shlex.quote, words))}) COMP_CWORD={len(words) - 1}",
            'COMPREPLY=(); _hyperfleet_adapter; echo "${COMPREPLY[@]}"',
        ]
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], capture_output=True, text=True, timeout=240, check=True, cwd=tmp_path
    )
    assert dict(zip(COMPLETIONS, map(str.split, done.stdout.splitlines()), strict=True)) == COMPLETIONS


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_know_every_command_and_option(run: Run, shell: str) -> None:
    done = run("completion", shell)
    assert done.returncode == 0
    for word in ("eval", "completion", "jsonpath", "vars", "cases", "output", "now"):
        assert word in done.stdout
