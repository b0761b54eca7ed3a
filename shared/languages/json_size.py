"""How large a result becomes when it is written as JSON.

A result refers to its parts, so one that holds a large part thousands of times is small in memory and gigabytes as
text. A text counts each time. An object or a list is measured when it is met again: all of them once are no more than
the documents they came from.
"""

import json
from typing import Any, Final

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, default=str)


class JsonSize:
    """Counts the characters of a result, part by part, down from a limit."""

    __slots__ = ("_left", "_sizes")

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._sizes: dict[int, int | None] = {}

    def takes(self, part: Any) -> bool:
        """Whether the result is within its limit with this part; the parts must stay alive while they are counted."""
        if isinstance(part, str | bytes):
            self._left -= len(part)
        elif isinstance(part, list | dict):
            self._left -= self._again(part)
        return self._left >= 0

    def _again(self, part: Any) -> int:
        key = id(part)
        if key not in self._sizes:
            self._sizes[key] = None
            return 0
        size = self._sizes[key]
        if size is None:
            size = self._sizes[key] = len(_ENCODER.encode(part))
        return size
