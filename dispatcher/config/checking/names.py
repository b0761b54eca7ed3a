"""Names that nobody defines, or that are defined only later, in every expression, template and path."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from dispatcher.config.checking.reads import Read, reads
from dispatcher.config.compiled import Place
from dispatcher.config.compiling.context import Context, Phase, Use
from dispatcher.config.compiling.scopes import TEMPLATE_BUILTINS
from dispatcher.config.findings import Severity
from dispatcher.config.nearest import nearest
from shared.languages.cel import CelProgram, compile_cel
from shared.languages.errors import Rejected
from shared.languages.gotemplate import Template
from shared.languages.jsonpath import Program

# The Go framework looks for unknown names in this form only.
_SIMPLE = re.compile(r"\{\{\s*\.([a-zA-Z_][a-zA-Z0-9_.]*)\s*(?:\|[^}]*)?\}\}")
_GO_BUILTINS: Final = TEMPLATE_BUILTINS | {"now", "date", "resources"}
ADAPTER_IN_CEL: Final = frozenset({
    "executionStatus", "resourcesSkipped", "skipReason", "errorReason", "errorMessage", "executionError",
    "resourceErrors",
})  # fmt: skip
ADAPTER_IN_TEMPLATES: Final = frozenset({"name", "version"})
_EXECUTION_ERROR: Final = frozenset({"phase", "step", "message"})
# Keys of the HyperFleet API's answers, which a capture may read whatever a param is called.
_ANSWER_KEYS: Final = frozenset({
    "id", "kind", "href", "name", "labels", "spec", "status", "generation", "items", "total", "page", "size",
    "deleted_time", "deleted_by", "created_time", "created_by", "updated_time", "updated_by", "owner_references",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Definitions:
    """`places` are those of params, captures and payloads; `resources` the names of resources and nested ones."""

    places: Mapping[str, Place]
    payloads: frozenset[str]
    resources: frozenset[str]


@dataclass(frozen=True, slots=True)
class Unknown:
    """`offset` is in the source of the use."""

    offset: int
    message: str
    hint: str = ""
    severity: Severity = Severity.MISTAKE


def check_names(context: Context, definitions: Definitions) -> None:
    for use in context.uses:
        for unknown in _unknown(use, definitions):
            context.report(unknown.severity, "unknown-name", unknown.message, use.locate(unknown.offset), unknown.hint)


def _unknown(use: Use, definitions: Definitions) -> Iterator[Unknown]:
    match use.program:
        case CelProgram() as program:
            yield from _in_cel(program, use, definitions)
        case Template() as template:
            yield from _in_template(template, use, definitions)
        case Program() as path if use.names is not None:
            for name in sorted(path.free_variables - use.names):
                yield Unknown(path.source.find(name), f"there is no variable {name}", _meant(name, use, definitions))


def _in_cel(program: CelProgram, use: Use, definitions: Definitions) -> Iterator[Unknown]:
    found = list(reads(program))
    names = use.names
    unknown = program.free_variables - names if names is not None else frozenset[str]()
    for read in found:
        name = read.path[0]
        if name in unknown:
            yield Unknown(read.offsets[0], f"there is no variable {name}", _meant(name, use, definitions))
        elif names is not None:
            yield from _member(read, use, definitions)
        elif name in definitions.places and name not in _ANSWER_KEYS and name not in use.answers:
            hint = "compare in conditions or in the expression of the precondition instead"
            message = f"a capture sees only the answer of its call, which has no {name} unless the API sends one"
            yield Unknown(read.offsets[0], message, hint, Severity.ADVICE)
    try:
        compile_cel(program.source, variables=program.free_variables)
    except Rejected as refusal:
        yield Unknown(refusal.offset, refusal.problem, refusal.hint or "")


def _member(read: Read, use: Use, definitions: Definitions) -> Iterator[Unknown]:
    """Members of the two variables whose members are known."""
    match read.path:
        case ("resources", name, *_) if use.phase in {Phase.PARAMS, Phase.PRECONDITIONS}:
            yield Unknown(read.offsets[0], f"resources.{name} is not there yet: resources come after the preconditions")
        case ("resources", name, *_) if name not in definitions.resources:
            yield Unknown(read.offsets[1], f"there is no resource {name}", _near(name, definitions.resources))
        case ("adapter", "name" | "version" as name, *_):
            yield Unknown(read.offsets[1], f"adapter has no {name} in CEL", f"write config.adapter.{name}")
        case ("adapter", "executionError", name, *_) if name not in _EXECUTION_ERROR:
            yield Unknown(read.offsets[2], f"executionError has no {name}", _near(name, _EXECUTION_ERROR))
        case ("adapter", "resourceErrors", name, *_) if name not in definitions.resources:
            yield Unknown(read.offsets[2], f"there is no resource {name}", _near(name, definitions.resources))
        case ("adapter", name, *_) if name not in ADAPTER_IN_CEL:
            yield Unknown(read.offsets[1], f"adapter has no {name}", _near(name, ADAPTER_IN_CEL))


def _in_template(template: Template, use: Use, definitions: Definitions) -> Iterator[Unknown]:
    assert use.names is not None
    simple = {found.start(1) - 1: found[1].partition(".")[0] for found in _SIMPLE.finditer(template.source)}
    for problem in template.problems(use.names | {reference.path[0] for reference in template.references}):
        yield Unknown(problem.offset, problem.problem, problem.hint or "")
    for reference in template.references:
        name = reference.path[0]
        if not reference.whole or name == "*":
            continue
        if name not in use.names:
            severity = Severity.MISTAKE
            written = name in (simple.get(reference.offset), simple.get(reference.offset - 1))
            if use.checked_in_go and written and not _known_to_go(name, use, definitions):
                severity = Severity.REFUSED
            yield Unknown(
                reference.offset, f"there is no variable .{name}", _meant(name, use, definitions, dot="."), severity
            )
        elif name == "adapter" and len(reference.path) > 1 and reference.path[1] not in ADAPTER_IN_TEMPLATES:
            hint = "templates know its name and version; the outcome of the run is known to CEL in payloads"
            yield Unknown(reference.offset, f"adapter has no {reference.path[1]} in templates", hint)


def _known_to_go(name: str, use: Use, definitions: Definitions) -> bool:
    """Only calls of params are held to the order of definition there."""
    if name in _GO_BUILTINS:
        return True
    return name in definitions.places and use.phase is not Phase.PARAMS


def _meant(name: str, use: Use, definitions: Definitions, *, dot: str = "") -> str:
    if name in definitions.places:
        if name in definitions.payloads and not dot:
            return f"{name} is a payload, which templates see and CEL does not"
        return f"{name} is defined later, at {definitions.places[name]}"
    if name == "resources":
        return "templates see no resources; take the value in a payload, with an expression"
    if name == "params":
        return "there is no params: write the param's name alone"
    near = nearest(name, use.names or ())
    if near:
        return f"did you mean {dot}{near}?"
    known = sorted((use.names or frozenset()) & definitions.places.keys())
    return f"defined here are {', '.join(dot + each for each in known[:10])}" if known else ""


def _near(name: str, known: frozenset[str]) -> str:
    near = nearest(name, known)
    if near:
        return f"did you mean {near}?"
    return f"there are {', '.join(sorted(known)[:10])}" if known else ""
