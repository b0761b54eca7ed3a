"""Findings as people and machines read them: text, JSON, annotations of GitHub, SARIF."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from dispatcher.config.findings import Finding
from dispatcher.config.rules import RULES

Report = Callable[[Sequence[Finding], Sequence[Finding]], str]
"""From errors and warnings to a text."""

_SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def as_text(errors: Sequence[Finding], warnings: Sequence[Finding]) -> str:
    parts = [
        f"{'error' if finding in errors else 'warning'}: {finding.explain()}" for finding in _ordered(errors, warnings)
    ]
    parts.append(f"{_counted(len(errors), 'error')}, {_counted(len(warnings), 'warning')}")
    return "\n".join(parts)


def as_json(errors: Sequence[Finding], warnings: Sequence[Finding]) -> str:
    document = {
        "valid": not errors,
        "errors": len(errors),
        "warnings": len(warnings),
        "findings": [_facts(finding, finding in errors) for finding in _ordered(errors, warnings)],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def as_github(errors: Sequence[Finding], warnings: Sequence[Finding]) -> str:
    """Workflow commands: GitHub shows them beside the lines of a pull request."""
    return "\n".join(_annotation(finding, finding in errors) for finding in _ordered(errors, warnings))


def as_sarif(errors: Sequence[Finding], warnings: Sequence[Finding]) -> str:
    rules = sorted({finding.rule for finding in (*errors, *warnings)})
    driver = {
        "name": "hyperfleet-adapter validate",
        "rules": [{"id": rule, "shortDescription": {"text": RULES[rule]}} for rule in rules],
    }
    results = [_result(finding, finding in errors) for finding in _ordered(errors, warnings)]
    document = {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


REPORTS: Final[Mapping[str, Report]] = {"text": as_text, "json": as_json, "github": as_github, "sarif": as_sarif}


def _ordered(errors: Sequence[Finding], warnings: Sequence[Finding]) -> list[Finding]:
    return sorted((*errors, *warnings), key=lambda each: (each.place.file, each.place.line, each.place.column))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _facts(finding: Finding, is_error: bool) -> dict[str, Any]:  # noqa: FBT001 - one of two kinds
    return {
        "severity": "error" if is_error else "warning",
        "rule": finding.rule,
        "message": finding.message,
        "file": finding.place.file,
        "line": finding.place.line,
        "column": finding.place.column,
        "path": finding.place.path,
        "source": finding.line,
        "hint": finding.hint,
        "origin": finding.origin,
    }


def _annotation(finding: Finding, is_error: bool) -> str:  # noqa: FBT001 - one of two kinds
    place = finding.place
    where = f"file={_property(place.file)},line={place.line},col={place.column},title={_property(finding.rule)}"
    path = f"{place.path}: " if place.path else ""
    text = f"{path}{finding.message}" + (f"\nhint: {finding.hint}" if finding.hint else "")
    return f"::{'error' if is_error else 'warning'} {where}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _result(finding: Finding, is_error: bool) -> dict[str, Any]:  # noqa: FBT001 - one of two kinds
    place = finding.place
    text = finding.message + (f" ({finding.hint})" if finding.hint else "")
    return {
        "ruleId": finding.rule,
        "level": "error" if is_error else "warning",
        "message": {"text": f"{place.path}: {text}" if place.path else text},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": place.file},
                    "region": {"startLine": place.line, "startColumn": place.column},
                }
            }
        ],
    }
