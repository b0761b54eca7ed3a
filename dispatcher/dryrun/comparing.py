"""Whether a trace is what a test case expects: it may have more than is asked for, but nothing else.

Of an object only the expected keys are compared; a list must have the same length.
"""

import json
from collections.abc import Iterator
from typing import Any


def differences(expected: Any, actual: Any, path: str = "") -> Iterator[str]:
    """Each difference in one line, with its path."""
    match expected, actual:
        case dict(), dict():
            for key, value in expected.items():
                inner = f"{path}.{key}" if path else key
                if key in actual:
                    yield from differences(value, actual[key], inner)
                else:
                    yield f"{inner}: expected {_short(value)}, but there is nothing"
        case list(), list():
            if len(expected) != len(actual):
                yield f"{path}: expected {len(expected)} elements, found {len(actual)}: {_short(actual)}"
                return
            for index, (left, right) in enumerate(zip(expected, actual, strict=True)):
                yield from differences(left, right, f"{path}[{index}]")
        case _:
            if expected != actual or isinstance(expected, bool) != isinstance(actual, bool):
                yield f"{path}: expected {_short(expected)}, found {_short(actual)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}…"  # noqa: PLR2004 - what fits a line of a terminal
