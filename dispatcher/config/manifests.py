"""Manifests as the engine renders them: as a structure, or as a text that becomes YAML."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dispatcher.config.findings import Finding
from dispatcher.config.reading.parsing import parse
from dispatcher.config.reading.scalars import plain
from shared.errors import Invalid, Problem
from shared.languages.clock import Clock
from shared.languages.errors import EvaluationError, Rejected
from shared.languages.gotemplate import Structure, Template


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredManifest:
    """Every text is rendered in its place: no value can change the structure."""

    api_version: str
    kind: str
    structure: Structure

    def render(self, variables: Mapping[str, Any], *, clock: Clock) -> dict[str, Any]:
        rendered: dict[str, Any] = self.structure.render(variables, clock=clock)
        return rendered


@dataclass(frozen=True, slots=True, kw_only=True)
class TextManifest:
    """A text with directives that shape the document (`if`, `range`): rendered first, read as YAML then."""

    api_version: str
    kind: str
    template: Template

    def render(self, variables: Mapping[str, Any], *, clock: Clock) -> dict[str, Any]:
        text = self.template.evaluate(variables, clock=clock)
        findings: list[Finding] = []
        document = parse(text, "the rendered manifest", findings)
        if document is None:
            raise Invalid(
                "the rendered manifest is not YAML",
                [Problem(f"line {finding.place.line}", finding.message) for finding in findings],
                remedy="quote values that may hold special characters",
            )
        if not isinstance(document.data, dict) or not document.data:
            raise Invalid("the rendered manifest is no Kubernetes object", why="it is not a mapping with content")
        manifest: dict[str, Any] = plain(document.data)
        return manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenManifest:
    """A manifest whose templates cannot be compiled; the Go framework says so only when it renders it."""

    api_version: str
    kind: str
    refusal: Rejected

    def render(self, variables: Mapping[str, Any], *, clock: Clock) -> dict[str, Any]:  # noqa: ARG002 - fails anyway
        refusal = self.refusal
        raise EvaluationError(refusal.problem, source=refusal.source, offset=refusal.offset, hint=refusal.hint)
