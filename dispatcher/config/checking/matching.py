"""Whether two templates can give the same text, as far as that can be seen without rendering them."""

import re
from collections import Counter
from typing import Final

_ACTION = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)
_DIRECTIVE = re.compile(r"(?:if|else|end|range|with|define|block|template|break|continue)\b|.*:?=")
_SPACES = re.compile(r"\s+")
_MARK: Final = "\x00"


def cannot_equal(one: str, other: str) -> bool:
    """True only where the texts differ whatever the values are: same actions, but another text around them."""
    first, second = _parts(one), _parts(other)
    if first is None or second is None:
        return False
    (text, actions), (other_text, other_actions) = first, second
    if Counter(actions) != Counter(other_actions):
        return False
    if len(text) != len(other_text):
        return True
    return actions == other_actions and text != other_text


def _parts(template: str) -> tuple[str, list[str]] | None:
    """The text with a mark for each action, and the actions; None where an action decides what is written."""
    actions = [_SPACES.sub(" ", found[1]) for found in _ACTION.finditer(template)]
    if any(_DIRECTIVE.match(action) for action in actions):
        return None
    return _ACTION.sub(_MARK, template), actions
