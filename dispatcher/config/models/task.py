"""The task config: what an adapter extracts, checks, creates and reports."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from dispatcher.config.compiled import Operator
from dispatcher.config.models.blocks import Block
from dispatcher.config.models.fields import Anything, Filled, Flag, Name, Text, Whole, mistake

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
WITHOUT_VALUE = frozenset({Operator.EXISTS, Operator.NOT_EXISTS})
WITH_LIST = frozenset({Operator.IN, Operator.NOT_IN})


class Header(Block):
    name: Text = Field(default="", description="the header's name; no template")
    value: Text = Field(default="", description="its value; a template")


class ApiCallBlock(Block):
    """A call of the HyperFleet API, or of another server by its absolute URL."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = Field(
        default="GET",
        description="the HTTP method; the Go framework demands it everywhere, a post action does here too",
    )
    url: Filled = Field(description="path or URL; a template. A relative path is completed with base_url and version")
    timeout: Text = Field(default="", description="of one attempt, as in 10s; otherwise the client's")
    retry_attempts: Whole = Field(default=0, description="attempts in all; otherwise the client's")
    retry_backoff: Text = Field(default="", description="exponential, linear or constant; otherwise the client's")
    headers: list[Header] = Field(default_factory=list, description="headers of this call")
    body: Text = Field(default="", description="sent with POST, PUT and PATCH; a template")


class FileBlock(Block):
    """A file that is read for every event."""

    path: Filled = Field(description="the file; at most 1 MiB of it is taken")
    trim: Flag = Field(default=True, description="without the white space around it")


class ObjectKeyBlock(Block):
    """One key of a Secret or a ConfigMap."""

    namespace: Filled = Field(description="its namespace")
    name: Filled = Field(description="its name")
    key: Filled = Field(description="the key in its data")


class SourceBlock(Block):
    """A param's source as a mapping: exactly one of these."""

    api_call: ApiCallBlock | None = Field(default=None, description="a call whose answer, a JSON object, is the value")
    expression: Filled | None = Field(default=None, description="a CEL expression over the params above")
    file: FileBlock | None = Field(default=None, description="the content of a file")
    secret: ObjectKeyBlock | None = Field(default=None, description="a key of a Secret")
    configmap: ObjectKeyBlock | None = Field(default=None, description="a key of a ConfigMap")

    @classmethod
    def rules(cls, members: Mapping[str, Any]) -> Iterator[PydanticCustomError]:
        written = [key for key in cls.model_fields if key in members]
        if len(written) != 1:
            which = f"only one of {', '.join(written)}" if written else f"one of {', '.join(cls.model_fields)}"
            yield mistake(f"a source has {which}", hint="use one source for each param")
        if isinstance(members.get("expression"), str) and not members["expression"].strip():
            yield mistake("the expression is empty", key="expression")


def _source_form(value: Any) -> str:
    return "<mapping>" if isinstance(value, Mapping | SourceBlock) else "<text>"


class ParamBlock(Block):
    """One variable of the adapter."""

    nullable: ClassVar[frozenset[str]] = frozenset({"default"})

    name: Filled = Field(description="the variable's name; a later param of the same name replaces it")
    source: Annotated[
        Annotated[SourceBlock, Tag("<mapping>")] | Annotated[Filled, Tag("<text>")], Discriminator(_source_form)
    ] = Field(
        description="event.PATH, env.NAME, config.PATH, PARAM.PATH, secret.NAMESPACE.NAME.KEY, "
        "configmap.NAMESPACE.NAME.KEY, a bare path into the event, or a mapping"
    )
    type: Text = Field(default="", description="string, int, int64, float, float64 or bool; for texts and files only")
    default: Anything = Field(default=None, description="the value where the source gives none")
    required: Flag = Field(default=False, description="the run fails without it")
    description: Text = Field(default="", description="for readers of the file")

    @classmethod
    def rules(cls, members: Mapping[str, Any]) -> Iterator[PydanticCustomError]:
        source = members.get("source")
        if isinstance(source, str) and source and not source.strip():
            yield mistake("the source is blank", key="source")


class LogBlock(Block):
    message: Text = Field(default="", description="the line; a template")
    level: Text = Field(default="info", description="debug, info, warn or error")


class CaptureBlock(Block):
    """A value taken from the answer of the precondition's call."""

    nullable: ClassVar[frozenset[str]] = frozenset({"default"})

    name: Filled = Field(description="the variable's name")
    field: Filled | None = Field(default=None, description="a JSONPath into the answer")
    expression: Filled | None = Field(default=None, description="a CEL expression over the answer")
    default: Anything = Field(default=None, description="the value where the answer has none")

    @classmethod
    def rules(cls, members: Mapping[str, Any]) -> Iterator[PydanticCustomError]:
        yield from either(members, "field", "expression")


class ConditionBlock(Block):
    """A comparison of one field with a value."""

    nullable: ClassVar[frozenset[str]] = frozenset({"value", "values"})

    field: Text = Field(default="", description="a JSONPath into the variables")
    operator: Operator = Field(description="how field and value are compared")
    value: Anything = Field(default=None, description="what the field is compared with")
    values: Anything = Field(default=None, description="the same, for a list")

    @property
    def operand(self) -> Any:
        return self.value if self.values is None else self.values

    @classmethod
    def rules(cls, members: Mapping[str, Any]) -> Iterator[PydanticCustomError]:
        written = [key for key in ("value", "values") if members.get(key) is not None]
        operator = members["operator"] if isinstance(members.get("operator"), str) else ""
        if len(written) > 1:
            yield mistake("value and values mean the same", key="values", hint="keep one of them")
        elif operator in WITHOUT_VALUE and written:
            yield mistake(f"the operator {operator} takes no value", key=written[0])
        elif operator in set(Operator) - WITHOUT_VALUE and not written:
            yield mistake(f"the operator {operator} needs a value", hint="add `value:`")
        elif operator in WITH_LIST and not isinstance(members[written[0]], list):
            yield mistake(f"the operator {operator} needs a list", key=written[0], hint="write [a, b]")


class PreconditionBlock(Block):
    """Decides whether resources are touched at all."""

    name: Name = Field(description="its name; also the variable that holds the answer of its call")
    api_call: ApiCallBlock | None = Field(default=None, description="deprecated: use a param with source.api_call")
    log: LogBlock | None = Field(default=None, description="a line to log before the call")
    capture: list[CaptureBlock] = Field(default_factory=list, description="values taken from the answer")
    conditions: list[ConditionBlock] = Field(default_factory=list, description="comparisons; all must hold")
    expression: Text = Field(default="", description="a CEL expression that must hold; conditions win over it")

    @classmethod
    def rules(cls, members: Mapping[str, Any]) -> Iterator[PydanticCustomError]:
        if not any(members.get(key) for key in ("api_call", "expression", "conditions")):
            wanted = ("api_call", "expression", "conditions")
            yield mistake("needs an api_call, an expression or conditions", wanted=wanted)


class MaestroTransportBlock(Block):
    target_cluster: Filled = Field(description="the management cluster as Maestro knows it; a template")


class TransportBlock(Block):
    client: Literal["kubernetes", "maestro"] = Field(description="where the resource goes")
    maestro: MaestroTransportBlock | None = Field(default=None, description="required for maestro")

    @classmethod
    def rules(cls, members: Mapping[str, Any]) -> Iterator[PydanticCustomError]:
        if members.get("client") == "maestro" and "maestro" not in members:
            yield mistake("the client maestro needs a target", hint="add `maestro: {target_cluster: NAME}`")


class SelectorBlock(Block):
    label_selector: dict[Text, Text] = Field(description="labels and their values; both are templates", min_length=1)


class DiscoveryBlock(Block):
    """How a resource is found again: by its name or by its labels."""

    namespace: Text = Field(default="", description='its namespace; a template. "" or "*" for cluster-scoped kinds')
    by_name: Filled | None = Field(default=None, description="its name; a template")
    by_selectors: SelectorBlock | None = Field(default=None, description="its labels")

    @classmethod
    def rules(cls, members: Mapping[str, Any]) -> Iterator[PydanticCustomError]:
        yield from either(members, "by_name", "by_selectors")


class NestedDiscoveryBlock(Block):
    """An object inside a ManifestWork, shown as `resources.NAME`."""

    name: Name = Field(description="its name under resources")
    discovery: DiscoveryBlock = Field(description="how it is found among the work's manifests")


class WhenBlock(Block):
    expression: Filled = Field(description="a CEL expression")


class CreateBlock(Block):
    when: WhenBlock = Field(description="whether a resource that does not exist is created")


class DeleteBlock(Block):
    when: WhenBlock = Field(description="whether the resource is deleted instead of applied")
    propagationPolicy: Literal["Background", "Foreground", "Orphan"] = Field(  # noqa: N815 - the key's own spelling
        default="Background", description="what happens to the objects it owns"
    )


class LifecycleBlock(Block):
    create: CreateBlock | None = Field(default=None, description="when to create")
    delete: DeleteBlock | None = Field(default=None, description="when to delete")


class RepollBlock(Block):
    """When a Job that is gone is created anew without an event."""

    after: Literal["ttl"] = Field(description="once its TTL removed it")
    when: WhenBlock = Field(description="whether, by the Job as it was: `resources.NAME` is all that is known")


def _repoll_form(value: Any) -> str:
    return "<mapping>" if isinstance(value, Mapping | RepollBlock) else "<text>"


class ResourceBlock(Block):
    """A Kubernetes object, or a ManifestWork."""

    name: Name = Field(description="its name under `resources` in CEL")
    transport: TransportBlock | None = Field(default=None, description="where it goes; kubernetes by default")
    manifest: Anything = Field(description="a mapping, a block of text, or {ref: FILE}; a template")
    discovery: DiscoveryBlock = Field(description="how it is found again")
    nested_discoveries: list[NestedDiscoveryBlock] = Field(
        default_factory=list, description="objects inside a ManifestWork that are shown under `resources`"
    )
    recreate_on_change: Flag = Field(
        default=False, description="replace it instead of updating it; a work is updated all the same"
    )
    lifecycle: LifecycleBlock | None = Field(default=None, description="conditions for creation and deletion")
    watch: Flag | None = Field(
        default=None, description="ours: wake the object when this resource changes; Jobs are watched by default"
    )
    repoll: (
        Annotated[
            Annotated[RepollBlock, Tag("<mapping>")] | Annotated[Literal["ttl"], Tag("<text>")],
            Discriminator(_repoll_form),
        ]
        | None
    ) = Field(
        default=None,
        description="ours: `ttl` creates a finished Job anew once its TTL removed it, without an event; "
        "or a mapping with a condition",
    )
    drift: Literal["ignore", "repair"] = Field(
        default="ignore", description="ours: `repair` applies the manifest when the object differs from it"
    )
    supersedes: Literal["lower-generations"] | None = Field(
        default=None, description="ours: delete the objects of lower generations before this one is created"
    )

    @classmethod
    def rules(cls, members: Mapping[str, Any]) -> Iterator[PydanticCustomError]:
        manifest = members.get("manifest")
        if "manifest" in members and not isinstance(manifest, dict | str):
            yield mistake("must be a mapping, a text or {ref: FILE}", key="manifest")


class PayloadBlock(Block):
    """A JSON text, built for post actions."""

    name: Filled = Field(description="the variable that holds the text")
    build: Anything = Field(default=None, description="a tree of texts and {field | expression, default}")
    build_ref: Text = Field(default="", description="a YAML file with that tree, beside the task config")
    when: WhenBlock | None = Field(default=None, description="whether it is built")

    @classmethod
    def rules(cls, members: Mapping[str, Any]) -> Iterator[PydanticCustomError]:
        yield from either(members, "build", "build_ref")


class PostActionBlock(Block):
    """What is done with the outcome."""

    name: Name = Field(description="its name")
    api_call: ApiCallBlock | None = Field(default=None, description="a call, usually PUT …/statuses")
    log: LogBlock | None = Field(default=None, description="a line to log")
    when: WhenBlock | None = Field(default=None, description="whether it is done")

    @classmethod
    def rules(cls, members: Mapping[str, Any]) -> Iterator[PydanticCustomError]:
        call = members.get("api_call")
        if isinstance(call, Mapping) and not call.get("method"):
            yield mistake("the method is missing", key="api_call", hint="add `method: PUT`")


class PostBlock(Block):
    payloads: list[PayloadBlock] = Field(default_factory=list, description="JSON texts to build, in this order")
    post_actions: list[PostActionBlock] = Field(default_factory=list, description="what is done, in this order")


class TaskConfig(Block):
    """The task config. An event runs through params, preconditions, resources and post, in this order."""

    params: list[ParamBlock] = Field(default_factory=list, description="phase 1: variables")
    preconditions: list[PreconditionBlock] = Field(default_factory=list, description="phase 2: whether to go on")
    resources: list[ResourceBlock] = Field(default_factory=list, description="phase 3: objects to create, in order")
    post: PostBlock = Field(default_factory=PostBlock, description="phase 4: the report")


def either(members: Mapping[str, Any], one: str, other: str) -> Iterator[PydanticCustomError]:
    """Exactly one of two members; an empty text is as good as none."""
    written = [key for key in (one, other) if members.get(key) not in (None, "")]
    if len(written) > 1:
        yield mistake(f"{one} and {other} are mutually exclusive", key=other, hint="keep one of them")
    elif not written:
        yield mistake(f"needs {one} or {other}", wanted=(one, other))
