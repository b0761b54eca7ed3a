"""The form of an answer: a table, names, JSON, YAML, or what a JSONPath or a Go template makes of the data."""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from maestro_cli.exits import UsageError
from shared.redaction import redact_message
from shared.standard_streams import write_line

TEXT_FORMS: Final = ("table", "wide", "name", "json", "yaml", "manifestwork")


def print_answer(text: str) -> None:
    write_line(text)


def print_note(text: str) -> None:
    """What is not an answer: progress, warnings, errors."""
    sys.stderr.write(f"{redact_message(text)}\n")
    sys.stderr.flush()


@dataclass(frozen=True, slots=True)
class Form:
    """How `-o` asked for it. `argument` is the expression of a JSONPath or template."""

    name: str
    argument: str = ""

    @classmethod
    def parse(cls, text: str) -> "Form":
        name, _, argument = text.partition("=")
        if name in {"jsonpath", "go-template"} and argument:
            return cls(name, argument)
        if text in TEXT_FORMS:
            return cls(text)
        raise UsageError(
            f"-o {text!r} is unknown",
            remedy=f"use {', '.join(TEXT_FORMS)}, jsonpath=EXPRESSION or go-template=TEMPLATE",
        )

    @property
    def is_table(self) -> bool:
        return self.name in {"table", "wide"}

    def compile(self) -> Callable[[Any], str]:
        """What prints data in this form; a mistake in an expression is found before anything is asked of Maestro."""
        match self.name:
            case "json":
                return lambda data: json.dumps(data, indent=2, ensure_ascii=False)
            case "yaml" | "manifestwork":
                return _yaml
            case "jsonpath":
                return _jsonpath(self.argument)
            case "go-template":
                return _template(self.argument)
        raise UsageError(f"-o {self.name} has no data form")


def _yaml(data: Any) -> str:
    import yaml  # noqa: PLC0415 - only this form needs it

    if isinstance(data, list) and data and all(isinstance(each, Mapping) and "apiVersion" in each for each in data):
        return yaml.safe_dump_all(data, sort_keys=False, allow_unicode=True).rstrip()
    return str(yaml.safe_dump(data, sort_keys=False, allow_unicode=True)).rstrip()


def _jsonpath(expression: str) -> Callable[[Any], str]:
    from shared.languages.errors import LanguageError  # noqa: PLC0415 - only this form needs the languages
    from shared.languages.jsonpath import compile_jsonpath  # noqa: PLC0415

    def render(data: Any) -> str:
        try:
            return program.render(_in_items(data))
        except LanguageError as error:
            raise UsageError(f"the JSONPath failed: {error.explain()}") from error

    try:
        program = compile_jsonpath(expression)
    except LanguageError as error:
        raise UsageError(f"the JSONPath is refused: {error.explain()}") from error
    return render


def _template(source: str) -> Callable[[Any], str]:
    from shared.languages.errors import LanguageError  # noqa: PLC0415 - as above
    from shared.languages.gotemplate import compile_template  # noqa: PLC0415

    def render(data: Any) -> str:
        try:
            return template.evaluate(_in_items(data))
        except LanguageError as error:
            raise UsageError(f"the template failed: {error.explain()}") from error

    try:
        template = compile_template(source)
    except LanguageError as error:
        raise UsageError(f"the template is refused: {error.explain()}") from error
    return render


def _in_items(data: Any) -> Any:
    """Several works or consumers, as kubectl users look for them."""
    return {"items": data} if isinstance(data, list) else data
