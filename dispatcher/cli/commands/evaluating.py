"""`eval`: the author's playground for the three languages.

A value is printed and the exit code is 0; an evaluation that fails ends with 1, a source that is refused with 2. Errors
go to standard error, with a caret below the place.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dispatcher.cli.documents import STDIN, read_document
from dispatcher.cli.parsing import Commands
from dispatcher.cli.terminal import UsageError, answer, print_error
from shared.languages.errors import EvaluationError, LanguageError, Rejected
from shared.languages.registry import LANGUAGES, Language

_EXAMPLES = """\
examples:
  a CEL expression, with variables from a file:
    hyperfleet-adapter eval cel 'status.conditions.exists(c, c.type == "Ready")' --vars cluster.json
  a Go template, with variables from another command:
    kubectl get job j1 -o json | hyperfleet-adapter eval template '{{ .metadata.name | upper }}' --vars -
  a kubectl JSONPath, as in `field:`:
    hyperfleet-adapter eval jsonpath "{.items[?(@.adapter=='dns')].data.status}" --vars statuses.yaml
  with the clock stopped, so that the answer stays the same:
    hyperfleet-adapter eval cel 'now()' --now 2030-01-02T03:04:05Z
  many at once, one line of answer each; cases.json is [{"expr": "a + 1", "vars": {"a": 1}}, ...]:
    hyperfleet-adapter eval cel --cases cases.json -o json

an expression that starts with a minus goes behind `--`: hyperfleet-adapter eval cel -- '-1 + 2'
exit code: 0 a value, 1 the evaluation failed, 2 the expression was refused or the command misused
"""


def add_to(commands: Commands) -> None:
    parser = commands.add_parser(
        "eval",
        help="try a CEL expression, a Go template or a JSONPath",
        description="Evaluates one expression, or many, and prints the value.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("language", choices=list(LANGUAGES), help="cel, template or jsonpath")
    parser.add_argument("expression", metavar="EXPR", nargs="?", help="the source text")
    parser.add_argument("--vars", metavar="FILE", help="variables, as JSON or YAML; - is standard input")
    parser.add_argument("--cases", metavar="FILE", help="instead of EXPR, a JSON list of {expr, vars?}")
    parser.add_argument("-o", "--output", choices=["text", "json"], default="text", help="form of the answer")
    parser.add_argument("--now", metavar="TIME", type=_instant, help="what CEL and templates take for the present time")
    parser.set_defaults(run=lambda arguments: _run(parser, arguments))


def _instant(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time with a zone, such as 2030-01-02T03:04:05Z")
    return moment


@dataclass(frozen=True, slots=True)
class Case:
    """One evaluation to make; `variables` is a document of any kind where the language reads one."""

    language: Language
    expression: str
    variables: Any
    now: datetime | None

    def evaluate(self) -> Any:
        """The value; raises LanguageError."""
        names: list[str] = []
        if not self.language.reads_document:
            if not isinstance(self.variables, Mapping):
                raise UsageError(f"the variables of {self.language.name} are an object; give one with --vars")
            names = [name for name in self.variables if isinstance(name, str)]
        program = self.language.compile(self.expression, names)
        return program.evaluate(self.variables, clock=lambda: self.now or datetime.now(UTC))


def _run(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    if (arguments.expression is None) == (arguments.cases is None):
        parser.error("give either EXPR or --cases FILE")
    if arguments.vars == STDIN and arguments.cases == STDIN:
        parser.error("only one of --vars and --cases can be standard input")
    variables = {} if arguments.vars is None else read_document(arguments.vars)
    language = LANGUAGES[arguments.language]
    if arguments.cases is None:
        return _answer_one(Case(language, arguments.expression, variables, arguments.now), arguments.output)
    cases = _read_cases(arguments.cases, language, variables, arguments.now)
    return max((_answer_line(number, case, arguments.output) for number, case in enumerate(cases, 1)), default=0)


def _read_cases(name: str, language: Language, variables: Any, now: datetime | None) -> list[Case]:
    listed = read_document(name)
    if not isinstance(listed, list):
        raise UsageError(f'{name}: not a list; write [{{"expr": "a + 1", "vars": {{"a": 1}}}}, ...]')
    for number, each in enumerate(listed, 1):
        if not isinstance(each, dict) or not isinstance(each.get("expr"), str) or each.keys() - {"expr", "vars"}:
            raise UsageError(f'{name}: case {number} is not {{"expr": text, "vars": variables}}; `vars` is optional')
    return [Case(language, each["expr"], each.get("vars", variables), now) for each in listed]


def _answer_one(case: Case, output: str) -> int:
    try:
        value = case.evaluate()
    except LanguageError as error:
        if output == "json":
            answer(_json(_facts(error), indent=2))
        print_error(f"{_outcome(error)}: {error.explain()}")
        return _exit_code(error)
    answer(value if output == "text" and isinstance(value, str) else _json(value, indent=2))
    return 0


def _answer_line(number: int, case: Case, output: str) -> int:
    try:
        value = case.evaluate()
    except LanguageError as error:
        outcome = _outcome(error)
        answer(_json(_facts(error)) if output == "json" else f"{outcome}: {error}")
        print_error(f"case {number}: {outcome}: {error.explain()}")
        return _exit_code(error)
    answer(_json({"outcome": "value", "value": value} if output == "json" else value))
    return 0


def _json(value: Any, *, indent: int | None = None) -> str:
    try:
        return json.dumps(value, indent=indent, ensure_ascii=False)
    except (RecursionError, ValueError):
        raise UsageError("the value is nested too deeply to be printed; select a part of it") from None


def _outcome(error: LanguageError) -> str:
    return "rejected" if isinstance(error, Rejected) else "error"


def _exit_code(error: LanguageError) -> int:
    return 2 if isinstance(error, Rejected) else 1


def _facts(error: LanguageError) -> dict[str, Any]:
    position = error.position
    facts = {
        "outcome": _outcome(error),
        "problem": error.problem,
        "line": position.line,
        "column": position.column,
        "hint": error.hint,
    }
    if isinstance(error, EvaluationError):
        facts |= {"kind": type(error).__name__, "fragment": error.fragment, "met": error.met}
    return facts
