"""An adapter as the engine runs it: every expression, template and path compiled, nothing left to parse.

`compiling` makes these values from the files; `dispatcher.engine` only reads them. All of them are immutable and shared
by every run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from shared.languages.cel import CelProgram
from shared.languages.clock import Clock
from shared.languages.gotemplate import Template
from shared.languages.jsonpath import Program as JsonPath


class Absent(Enum):
    """The type of ABSENT: no default was written. `null` is a default like any other."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in which file something was written; lines and columns start at 1."""

    file: str
    line: int
    column: int
    path: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiCall:
    """One HTTP call; what is None is the client's setting."""

    method: str
    url: Template
    headers: tuple[tuple[str, Template], ...] = ()
    body: Template | None = None
    timeout: float | None = None
    retry_attempts: int | None = None
    retry_backoff: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAction:
    message: Template
    level: str = "info"


@dataclass(frozen=True, slots=True)
class EnvSource:
    name: str


@dataclass(frozen=True, slots=True)
class EventSource:
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConfigSource:
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PathSource:
    """A bare dotted path: into an earlier param where the first segment names one, else into the event's data."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileSource:
    path: Path
    trim: bool = True


@dataclass(frozen=True, slots=True)
class ApiCallSource:
    call: ApiCall


@dataclass(frozen=True, slots=True)
class ExpressionSource:
    program: CelProgram


@dataclass(frozen=True, slots=True)
class ObjectKeySource:
    """One key of a Secret or a ConfigMap."""

    kind: Literal["Secret", "ConfigMap"]
    namespace: str
    name: str
    key: str


ParamSource = (
    EnvSource
    | EventSource
    | ConfigSource
    | PathSource
    | FileSource
    | ApiCallSource
    | ExpressionSource
    | ObjectKeySource
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """`written` is the source as the author wrote it, for messages; `type_` is "" where none was given."""

    name: str
    source: ParamSource
    written: str
    type_: str = ""
    default: Any = ABSENT
    required: bool = False
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """One of `field` and `expression` is set."""

    name: str
    field: JsonPath | None = None
    expression: CelProgram | None = None
    default: Any = ABSENT
    place: Place


class Operator(StrEnum):
    EQUALS = "equals"
    NOT_EQUALS = "notEquals"
    IN = "in"
    NOT_IN = "notIn"
    CONTAINS = "contains"
    GREATER_THAN = "greaterThan"
    LESS_THAN = "lessThan"
    EXISTS = "exists"
    NOT_EXISTS = "notExists"
    GREATER_THAN_OR_EQUAL = "greaterThanOrEqual"
    LESS_THAN_OR_EQUAL = "lessThanOrEqual"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    field: JsonPath
    operator: Operator
    value: Any = None
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Precondition:
    """Where both `conditions` and `expression` are given, the conditions decide."""

    name: str
    api_call: ApiCall | None = None
    log: LogAction | None = None
    captures: tuple[Capture, ...] = ()
    conditions: tuple[Condition, ...] = ()
    expression: CelProgram | None = None
    place: Place


class Manifest(Protocol):
    """A manifest that is rendered for each run; `api_version` and `kind` are known before."""

    @property
    def api_version(self) -> str: ...

    @property
    def kind(self) -> str: ...

    def render(self, variables: Mapping[str, Any], *, clock: Clock) -> dict[str, Any]:
        """One Kubernetes object. Raises LanguageError, or Invalid where the text is no single YAML map."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """By name or by labels, never both. `namespace` None means: not namespaced, or not restricted."""

    namespace: Template | None = None
    by_name: Template | None = None
    by_labels: tuple[tuple[Template, Template], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedDiscovery:
    name: str
    discovery: Discovery
    place: Place


@dataclass(frozen=True, slots=True)
class Repoll:
    """A Job that its TTL removed is created anew without an event, where `when` holds for it as it was."""

    when: CelProgram | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """`transport` is "kubernetes" or "maestro"; `target_cluster` is the consumer, for Maestro only.

    `supersedes_lower_generations`, `watch`, `repoll` and `repair_drift` are ours; configurations of the Go
    framework leave them out.
    """

    name: str
    transport: Literal["kubernetes", "maestro"] = "kubernetes"
    target_cluster: Template | None = None
    manifest: Manifest
    discovery: Discovery
    nested: tuple[NestedDiscovery, ...] = ()
    recreate_on_change: bool = False
    create_when: CelProgram | None = None
    delete_when: CelProgram | None = None
    propagation_policy: Literal["Background", "Foreground", "Orphan"] = "Background"
    supersedes_lower_generations: bool = False
    watch: bool = False
    repoll: Repoll | None = None
    repair_drift: bool = False
    place: Place


@dataclass(frozen=True, slots=True)
class Constant:
    value: Any


@dataclass(frozen=True, slots=True)
class TextNode:
    template: Template


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueNode:
    """A value definition: `{field: …}` or `{expression: …}`, with a default for what gives nothing."""

    field: JsonPath | None = None
    expression: CelProgram | None = None
    default: Any = ABSENT
    place: Place


@dataclass(frozen=True, slots=True)
class MapNode:
    entries: "tuple[tuple[Template, PayloadNode], ...]"


@dataclass(frozen=True, slots=True)
class ListNode:
    elements: "tuple[PayloadNode, ...]"


PayloadNode = Constant | TextNode | ValueNode | MapNode | ListNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    name: str
    build: PayloadNode
    when: CelProgram | None = None
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class PostAction:
    """`payloads` are the payload names its body refers to."""

    name: str
    api_call: ApiCall | None = None
    log: LogAction | None = None
    when: CelProgram | None = None
    payloads: frozenset[str] = frozenset()
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """The compiled adapter.

    `config` is the merged configuration in its YAML's own keys, as `config.*` sources read it; `redacted_config` is the
    same without secrets, as templates and people see it.
    """

    name: str
    version: str
    config: Mapping[str, Any]
    redacted_config: Mapping[str, Any]
    params: tuple[Param, ...] = ()
    preconditions: tuple[Precondition, ...] = ()
    resources: tuple[Resource, ...] = ()
    payloads: tuple[Payload, ...] = ()
    post_actions: tuple[PostAction, ...] = ()
