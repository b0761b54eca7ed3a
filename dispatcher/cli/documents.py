"""JSON and YAML files named on the command line, and what is said when they cannot be read."""

import json
import sys
from pathlib import Path
from typing import Any

from dispatcher.cli.terminal import UsageError
from shared.untrusted_json import whole_characters

STDIN = "-"

_TOO_LARGE = "a number or a nesting in it is too large; make it smaller"
_JSON_KINDS = frozenset({"null", "bool", "int", "float", "str", "seq", "map"})


def read_document(name: str) -> Any:
    """What the file holds, as JSON has it: YAML's dates stay the text they were written as. `-` is standard input."""
    text, called = _text(name)
    if name.endswith((".yaml", ".yml")):
        return _from_yaml(text, called)
    try:
        return json.loads(whole_characters(text))
    except json.JSONDecodeError as error:
        if name.endswith(".json") or text.lstrip().startswith(("{", "[")):
            raise UsageError(_located(called, error.lineno, error.colno, f"not JSON: {error.msg}")) from None
        return _from_yaml(text, called)
    except (ValueError, RecursionError):
        raise UsageError(f"{called}: {_TOO_LARGE}") from None


def _text(name: str) -> tuple[str, str]:
    called = "standard input" if name == STDIN else name
    try:
        return sys.stdin.read() if name == STDIN else Path(name).read_text(encoding="utf-8"), called
    except OSError as error:
        raise UsageError(f"{called}: {error.strerror or 'unreadable'}; name a file that can be read") from None
    except ValueError:
        raise UsageError(f"{called}: not text in UTF-8; save it as UTF-8") from None


def _from_yaml(text: str, called: str) -> Any:
    import yaml  # noqa: PLC0415 - 30 ms that users of JSON need not wait for

    class Loader(yaml.SafeLoader):
        """YAML without what JSON has not: dates, sets, bytes."""

        yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own way to configure a loader
            first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
            for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }
        yaml_constructors = {  # noqa: RUF012 - as above
            tag: constructor
            for tag, constructor in yaml.SafeLoader.yaml_constructors.items()
            if tag is None or tag.rpartition(":")[2] in _JSON_KINDS
        }

    loader = Loader(text)
    try:
        return loader.get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise UsageError(_located(called, line, column, f"not YAML: {error.problem}")) from None
    except yaml.YAMLError:
        raise UsageError(f"{called}: not YAML: a character in it is not allowed; save it as plain text") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{called}: {_TOO_LARGE}") from None
    finally:
        loader.dispose()


def _located(called: str, line: int, column: int, problem: str) -> str:
    return f"{called}, line {line}, column {column}: {problem}; correct it there"
