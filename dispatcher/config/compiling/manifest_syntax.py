"""Whether a manifest that is written as text can be YAML at all, whatever its actions write.

Every action is replaced by a word of its own length, so that a mistake keeps its place. Nothing is said where an action
decides which lines there are: a directive, one that trims white space, or one at the beginning of a line.
"""

import re
from collections.abc import Iterator

from dispatcher.config.findings import Finding, Severity
from dispatcher.config.reading.parsing import parse

_SILENT = re.compile(r"\{\{\s*(?:/\*.*?\*/|\$\w+\s*:?=[^=].*?)\s*\}\}")
_SHAPING = re.compile(
    r"\{\{-|-\}\}|\{\{\s*(?:if|else|end|range|with|define|block|template|break|continue)\b|^[ \t]*\{\{", re.MULTILINE
)
_ACTION = re.compile(r"\{\{.*?\}\}")
_NO_WORD = re.compile(r"\W")


def syntax_mistakes(text: str) -> Iterator[tuple[int, Finding]]:
    """What is no proper YAML, with its offset in the text."""
    written = _SILENT.sub(lambda action: " " * len(action[0]), text)
    if _SHAPING.search(written):
        return
    written = _ACTION.sub(lambda action: _NO_WORD.sub("x", action[0]), written)
    findings: list[Finding] = []
    parse(written, "", findings)
    starts = [0, *(found.end() for found in re.finditer("\n", written))]
    for finding in findings:
        if finding.severity is Severity.REFUSED:
            yield starts[finding.place.line - 1] + finding.place.column - 1, finding
