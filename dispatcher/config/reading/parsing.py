"""From a file's text to a `Document`: the values, and everything that is no proper YAML.

Duplicate keys are refused. Aliases and merge keys work, as far as they do not multiply a file beyond all measure.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dispatcher.config.compiled import Place
from dispatcher.config.findings import Finding, Severity
from dispatcher.config.reading import paths
from dispatcher.config.reading.composing import (
    DEEPEST,
    PLAIN,
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    Unreadable,
    compose,
)
from dispatcher.config.reading.documents import MERGE, Document
from dispatcher.config.reading.scalars import resolve

_STRING_TAG = "tag:yaml.org,2002:str"
_MOST_COLLECTIONS = 200_000
_LARGEST_FILE = 8 * 1024 * 1024


def read_file(path: Path, findings: list[Finding]) -> Document | None:
    """The document of a file, or None with a finding that says why there is none."""
    text = read_text(path, findings)
    return None if text is None else parse(text, str(path), findings)


def read_text(path: Path, findings: list[Finding], *, place: Place | None = None) -> str | None:
    """`place` is where the file was named, if not on the command line."""
    try:
        # A device or a pipe shows no size, and may have no end.
        with path.open(encoding="utf-8") as file:
            text = file.read(_LARGEST_FILE + 1)
        if len(text) <= _LARGEST_FILE:
            return text
        problem = f"is larger than {_LARGEST_FILE // 1024**2} MiB"
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
    except UnicodeDecodeError:
        problem = "is not text in UTF-8"
    except ValueError as error:
        problem = f"cannot be read: {error}"
    at = place or Place(file=str(path), line=1, column=1, path="")
    message = f"the file {path} {problem}" if place else f"the file {problem}"
    findings.append(Finding(severity=Severity.REFUSED, rule="unreadable-file", message=message, place=at))
    return None


def parse(text: str, file: str, findings: list[Finding]) -> Document | None:
    """The first document of a text; what is wrong with it is added to `findings`."""
    reader = _Reader(file, text, findings)
    try:
        root, more = compose(text)
        data = reader.value(root, ()) if root is not None else None
    except Unreadable as problem:
        hint = "indent with spaces, not with tabs" if "\t" in reader.line(problem.line) else ""
        reader.report(Severity.REFUSED, "not-yaml", problem.problem, (problem.line, problem.column), hint=hint)
        return None
    if more:
        reader.report(Severity.ADVICE, "more-documents", "only the first document of the file is read", (1, 1))
    return None if reader.failed else Document(file, text, root, data)


class _Reader:
    def __init__(self, file: str, text: str, findings: list[Finding]) -> None:
        self.failed = False
        self._file = file
        self._lines = text.split("\n")
        self._findings = findings
        self._values = 0
        self._open: set[int] = set()

    def line(self, number: int) -> str:
        return self._lines[number - 1].rstrip("\r") if 0 < number <= len(self._lines) else ""

    def value(self, node: Node, path: paths.Path) -> Any:
        if isinstance(node, ScalarNode):
            return resolve(node.value) if node.style == PLAIN and node.tag != _STRING_TAG else node.value
        self._values += 1
        if self._values > _MOST_COLLECTIONS or len(path) > DEEPEST:
            raise Unreadable("the aliases of the file make it too large", node.line, node.column)
        if id(node) in self._open:
            self._refuse("recursive-alias", "an alias contains itself", node, path)
            return None
        self._open.add(id(node))
        value = self._list(node, path) if isinstance(node, ListNode) else self._mapping(node, path)
        self._open.discard(id(node))
        return value

    def _list(self, node: ListNode, path: paths.Path) -> list[Any]:
        return [self.value(element, (*path, index)) for index, element in enumerate(node.elements)]

    def _mapping(self, node: Node, path: paths.Path) -> dict[str, Any]:
        assert isinstance(node, MapNode)
        values: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, value in node.entries:
            if not isinstance(key, ScalarNode):
                hint = 'a template at the start of a value needs quotes: "{{ .name }}"'
                self._refuse("key-is-no-text", "the key of a mapping must be a text", key, path, hint)
            elif key.value == MERGE and key.style == PLAIN:
                for part in self._merged(value, path):
                    merged = part | merged
            elif key.value in values:
                self._refuse("duplicate-key", f"the key {key.value!r} is there twice", key, (*path, key.value))
            else:
                values[key.value] = self.value(value, (*path, key.value))
        return merged | values if merged else values

    def _merged(self, node: Node, path: paths.Path) -> Iterator[dict[str, Any]]:
        for source in node.elements if isinstance(node, ListNode) else [node]:
            part = self.value(source, path) if isinstance(source, MapNode) else None
            if isinstance(part, dict):
                yield part
            else:
                self._refuse("merge", "only mappings can be merged", source, path)

    def _refuse(self, rule: str, message: str, node: Node, path: paths.Path, hint: str = "") -> None:
        self.report(Severity.REFUSED, rule, message, (node.line, node.column), path, hint=hint)

    def report(
        self,
        severity: Severity,
        rule: str,
        message: str,
        at: tuple[int, int],
        path: paths.Path = (),
        *,
        hint: str = "",
    ) -> None:
        self.failed = self.failed or severity is Severity.REFUSED
        place = Place(file=self._file, line=at[0], column=at[1], path=paths.shown(path))
        self._findings.append(
            Finding(severity=severity, rule=rule, message=message, place=place, line=self.line(at[0]), hint=hint)
        )
