"""Rendering a document as a structure: texts are rendered where they stand, and nothing they contain can move a border.

The Go framework writes a map manifest as YAML, renders the text and reads it back, so a value with a quote, a colon
or a new line changes the document. Here the document is walked: every string, also a key, is a template of its own
and its result is a string in the same place; numbers, booleans and nulls stay what they are.
"""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from shared.languages.clock import Clock, system_clock
from shared.languages.errors import EvaluationError, LanguageError, Rejected
from shared.languages.gotemplate.compiling.references import Path
from shared.languages.gotemplate.limits import MAX_DEPTH
from shared.languages.gotemplate.program import Template, compile_template
from shared.languages.gotemplate.runtime.evaluation import Evaluation

_MAX_PARTS = 100_000
_Error = TypeVar("_Error", bound=LanguageError)


class CompileText(Protocol):
    def __call__(self, source: str, *, variables: Collection[str] | None) -> Template: ...


@dataclass(frozen=True, slots=True, eq=False)
class _Text:
    """A string that contains actions, and where in the document it stands."""

    place: str
    template: Template

    def render(self, run: Evaluation, variables: Mapping[str, Any]) -> str:
        try:
            return self.template.run(run, variables)
        except EvaluationError as error:
            raise _located(error, self.place) from None


@dataclass(frozen=True, slots=True, eq=False)
class _Constant:
    value: Any

    def render(self, _: Evaluation, __: Mapping[str, Any]) -> Any:
        return self.value


@dataclass(frozen=True, slots=True, eq=False)
class _List:
    elements: "tuple[_Part, ...]"

    def render(self, run: Evaluation, variables: Mapping[str, Any]) -> list[Any]:
        return [element.render(run, variables) for element in self.elements]


@dataclass(frozen=True, slots=True, eq=False)
class _FixedMap:
    """A map whose keys are known: most of every manifest. `outline` has them all, and what never changes."""

    outline: dict[Hashable, Any]
    rendered: "tuple[tuple[Hashable, _Part], ...]"

    def render(self, run: Evaluation, variables: Mapping[str, Any]) -> dict[Hashable, Any]:
        document = self.outline.copy()
        for key, part in self.rendered:
            document[key] = part.render(run, variables)
        return document


@dataclass(frozen=True, slots=True, eq=False)
class _Map:
    entries: "tuple[tuple[_Text | _Constant, _Part], ...]"

    def render(self, run: Evaluation, variables: Mapping[str, Any]) -> dict[Hashable, Any]:
        rendered: dict[Hashable, Any] = {}
        for key_part, value_part in self.entries:
            key = key_part.render(run, variables)
            if key in rendered:
                raise _twice(key_part, key)
            rendered[key] = value_part.render(run, variables)
        return rendered


_Part = _Text | _Constant | _List | _FixedMap | _Map


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """A compiled document."""

    document: _Part
    texts: tuple[_Text, ...]

    @property
    def free_variables(self) -> frozenset[str]:
        return frozenset().union(*(text.template.free_variables for text in self.texts))

    @property
    def free_paths(self) -> frozenset[Path]:
        return frozenset().union(*(text.template.free_paths for text in self.texts))

    @property
    def functions(self) -> frozenset[str]:
        return frozenset().union(*(text.template.functions for text in self.texts))

    def problems(self, variables: Collection[str]) -> tuple[Rejected, ...]:
        """What can only fail when these are the variables, in the order of the document."""
        return tuple(_located(p, text.place) for text in self.texts for p in text.template.problems(variables))

    def render(self, variables: Mapping[str, Any], *, clock: Clock = system_clock) -> Any:
        """A new document; the limits of one template hold for all of it together."""
        return self.document.render(Evaluation(clock), variables)


def compile_structure(
    node: Any, *, variables: Collection[str] | None = None, compile_text: CompileText = compile_template
) -> Structure:
    """`node` is a document of maps, lists and scalars; `variables` as in `compile_template`.

    `compile_text` takes its place for a caller who has compiled the texts before.
    """
    builder = _Builder(variables, compile_text)
    document = builder.part(node, "", 0)
    return Structure(document, tuple(builder.texts))


class _Builder:
    def __init__(self, variables: Collection[str] | None, compile_text: CompileText) -> None:
        self.texts: list[_Text] = []
        self._compile_text = compile_text
        self._variables = variables
        self._parts = 0

    def part(self, node: Any, place: str, depth: int) -> _Part:
        self._parts += 1
        if depth > MAX_DEPTH or self._parts > _MAX_PARTS:
            limit = f"{MAX_DEPTH} levels" if depth > MAX_DEPTH else f"{_MAX_PARTS} parts"
            raise Rejected(f"the document has more than {limit}", source=place)
        if isinstance(node, Mapping):
            return _map(tuple([self._entry(key, value, place, depth) for key, value in node.items()]))
        if isinstance(node, list | tuple):
            return _List(tuple([self.part(element, f"{place}[{i}]", depth + 1) for i, element in enumerate(node)]))
        return self._scalar(node, place or "the document")

    def _entry(self, key: Any, value: Any, place: str, depth: int) -> tuple[_Text | _Constant, _Part]:
        inner = f"{place}.{key}" if place else str(key)
        return self._scalar(key, f"the key {inner}"), self.part(value, inner, depth + 1)

    def _scalar(self, node: Any, place: str) -> _Text | _Constant:
        if not isinstance(node, str):
            return _Constant(node)
        try:
            template = self._compile_text(node, variables=self._variables)
        except Rejected as error:
            raise _located(error, place) from None
        if template.compiled is None:
            return _Constant(node)
        text = _Text(place, template)
        self.texts.append(text)
        return text


def _map(entries: tuple[tuple[_Text | _Constant, _Part], ...]) -> _FixedMap | _Map:
    outline = {
        key.value: part.value if isinstance(part, _Constant) else None
        for key, part in entries
        if isinstance(key, _Constant)
    }
    if len(outline) != len(entries):
        return _Map(entries)
    rendered = tuple(
        (key.value, part) for key, part in entries if isinstance(key, _Constant) and not isinstance(part, _Constant)
    )
    return _FixedMap(outline, rendered)


def _located(error: _Error, place: str) -> _Error:
    error.problem = f"in {place}: {error.problem}"
    return error


def _twice(part: _Text | _Constant, key: object) -> EvaluationError:
    source, place = (part.template.source, part.place) if isinstance(part, _Text) else (str(key), f"the key {key}")
    return EvaluationError(f"in {place}: the map gets the key {key!r} twice", source=source, fragment=source)
