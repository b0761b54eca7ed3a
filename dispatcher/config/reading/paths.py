"""The name of a value's place in a document: `preconditions[0].api_call.url`."""

import re

Path = tuple[str | int, ...]

_PLAIN_KEY = re.compile(r"[^.\[\]\"\s]+")


def shown(path: Path) -> str:
    """As the Go framework writes paths; a key with a dot stands in brackets."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text
