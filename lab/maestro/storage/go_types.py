"""A payload after decoding into Go's types.

Maestro stores the payload as sent, but returns it through Go structs: unknown members disappear, members without
`omitempty` appear with their zero value, and a value of the wrong type is an error with the text of Go's JSON package.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from shared import times


class Misfit(ValueError):
    """A value of another kind than the Go type has; the text is Go's."""


class Presence(Enum):
    ALWAYS = auto()
    UNLESS_EMPTY = auto()
    IF_GIVEN = auto()


@dataclass(frozen=True, slots=True)
class Scalar:
    go: str
    kind: type
    zero: str | int | bool


@dataclass(frozen=True, slots=True)
class Moment:
    go: str = "v1.Time"


@dataclass(frozen=True, slots=True)
class Raw:
    go: str


@dataclass(frozen=True, slots=True)
class Texts:
    go: str = "map[string]string"


@dataclass(frozen=True, slots=True)
class Many:
    of: "Shape"

    @property
    def go(self) -> str:
        return f"[]{self.of.go}"


@dataclass(frozen=True, slots=True)
class Struct:
    go: str
    members: Mapping[str, "Member"]


Shape = Scalar | Moment | Raw | Texts | Many | Struct


@dataclass(frozen=True, slots=True)
class Member:
    shape: Shape
    presence: Presence = Presence.ALWAYS


def _struct(go: str, *required: str, **members: Shape | Member) -> Struct:
    """Members named without a shape are texts that are always written."""
    texts = {name: Member(TEXT) for name in required}
    others = {name: each if isinstance(each, Member) else Member(each) for name, each in members.items()}
    return Struct(go, {**texts, **others})


def _maybe(shape: Shape) -> Member:
    return Member(shape, Presence.UNLESS_EMPTY)


def _pointer(shape: Shape) -> Member:
    return Member(shape, Presence.IF_GIVEN)


TEXT = Scalar("string", str, "")
NUMBER = Scalar("int64", int, 0)
FLAG = Scalar("bool", bool, False)  # noqa: FBT003 - Go's zero of that type

_IDENTIFIER_MEMBERS = ("group", "resource", "name", "namespace")
_IDENTIFIER = _struct("v1.ResourceIdentifier", *_IDENTIFIER_MEMBERS)
_ORPHANING = _struct(
    "v1.SelectivelyOrphan", orphaningRules=_maybe(Many(_struct("v1.OrphaningRule", *_IDENTIFIER_MEMBERS)))
)
_DELETE_OPTION = _struct(
    "v1.DeleteOption",
    propagationPolicy=Scalar("v1.DeletePropagationPolicyType", str, ""),
    selectivelyOrphans=_pointer(_ORPHANING),
    ttlSecondsAfterFinished=_pointer(NUMBER),
)
_FEEDBACK_RULE = _struct(
    "v1.FeedbackRule",
    type=Scalar("v1.FeedBackType", str, ""),
    jsonPaths=_maybe(Many(_struct("v1.JsonPath", "name", "path", version=_maybe(TEXT)))),
)
_IGNORE_FIELD = _struct(
    "v1.IgnoreField",
    condition=Scalar("v1.IgnoreFieldsCondition", str, ""),
    jsonPaths=_maybe(Many(TEXT)),
    jsonPointers=_maybe(Many(TEXT)),
    jqPathExpressions=_maybe(Many(TEXT)),
)
_SERVER_SIDE_APPLY = _struct(
    "v1.ServerSideApplyConfig", force=FLAG, fieldManager=_maybe(TEXT), ignoreFields=_maybe(Many(_IGNORE_FIELD))
)
_UPDATE_STRATEGY = _struct(
    "v1.UpdateStrategy",
    type=_maybe(Scalar("v1.UpdateStrategyType", str, "")),
    serverSideApply=_pointer(_SERVER_SIDE_APPLY),
)
_CONDITION_RULE = _struct(
    "v1.ConditionRule",
    "condition",
    "message",
    "messageExpression",
    type=Scalar("v1.ConditionRuleType", str, ""),
    celExpressions=Many(TEXT),
)
_MANIFEST_CONFIG = _struct(
    "v1.ManifestConfigOption",
    resourceIdentifier=_IDENTIFIER,
    feedbackRules=_maybe(Many(_FEEDBACK_RULE)),
    updateStrategy=_pointer(_UPDATE_STRATEGY),
    conditionRules=_maybe(Many(_CONDITION_RULE)),
    feedbackScrapeType=_maybe(Scalar("v1.FeedbackScrapeType", str, "")),
)
_EXECUTOR_SUBJECT = _struct(
    "v1.ManifestWorkExecutorSubject",
    type=Scalar("v1.ManifestWorkExecutorSubjectType", str, ""),
    serviceAccount=_pointer(_struct("v1.ManifestWorkSubjectServiceAccount", "namespace", "name")),
)
MANIFEST_BUNDLE = _struct(
    "payload.ManifestBundle",
    manifests=Many(Raw("v1.Manifest")),
    deleteOption=_pointer(_DELETE_OPTION),
    manifestConfigs=_maybe(Many(_MANIFEST_CONFIG)),
    executer=_pointer(_struct("v1.ManifestWorkExecutor", subject=_EXECUTOR_SUBJECT)),
)

_CONDITION = _struct(
    "v1.Condition",
    "type",
    "reason",
    "message",
    status=Scalar("v1.ConditionStatus", str, ""),
    observedGeneration=_maybe(NUMBER),
    lastTransitionTime=Moment(),
)
_FIELD_VALUE = _struct(
    "v1.FieldValue",
    type=Scalar("v1.ValueType", str, ""),
    integer=_pointer(NUMBER),
    string=_pointer(TEXT),
    boolean=_pointer(FLAG),
    jsonRaw=_pointer(TEXT),
)
_FEEDBACK = _struct(
    "v1.StatusFeedbackResult",
    values=_maybe(Many(_struct("v1.FeedbackValue", "name", fieldValue=_FIELD_VALUE))),
)
_MANIFEST_CONDITION = _struct(
    "v1.ManifestCondition",
    resourceMeta=_struct(
        "v1.ManifestResourceMeta",
        *("group", "version", "kind", "resource", "name", "namespace"),
        ordinal=Scalar("int32", int, 0),
    ),
    statusFeedback=_FEEDBACK,
    conditions=Many(_CONDITION),
)
BUNDLE_STATUS = _struct(
    "payload.ManifestBundleStatus",
    manifestBundle=_pointer(MANIFEST_BUNDLE),
    conditions=Many(_CONDITION),
    resourceStatus=_maybe(Many(_MANIFEST_CONDITION)),
)
_RESOURCE_VERSION = _struct("payload.ResourceVersion", "resourceID", resourceVersion=NUMBER)
VERSION_LIST = _struct("payload.ResourceVersionList", resourceVersions=Many(_RESOURCE_VERSION))
_STATUS_HASH = _struct("payload.ResourceStatusHash", "resourceID", "statusHash")
HASH_LIST = _struct("payload.ResourceStatusHashList", statusHashes=Many(_STATUS_HASH))

CONSUMER = _struct("openapi.Consumer", id=_pointer(TEXT), name=_pointer(TEXT), labels=_pointer(Texts()))
CONSUMER_PATCH = _struct("openapi.ConsumerPatchRequest", labels=_pointer(Texts()))


def fit(value: Any, shape: Shape) -> Any:
    """The value as Go would write it after reading it into that type."""
    return _fit(value, shape, f"value of type {shape.go}", ())


def _fit(value: Any, shape: Shape, target: str, path: tuple[str, ...]) -> Any:
    match shape:
        case Raw():
            return value
        case Scalar():
            return _scalar(value, shape, target)
        case Moment():
            return _moment(value, target)
        case Many() | Texts() if value is None:
            return None
        case Many() if isinstance(value, list):
            return [_fit(each, shape.of, _each(target, shape.of), path) for each in value]
        case Texts() if isinstance(value, dict):
            return {key: _fit(each, TEXT, _each(target, TEXT), path) for key, each in value.items()}
        case Struct() if isinstance(value, dict | None):
            return _members(value or {}, shape, path)
        case _:
            raise _misfit(value, target)


def _each(target: str, shape: Shape) -> str:
    return f"{target.rpartition(' of type ')[0]} of type {shape.go}"


def _members(given: Mapping[str, Any], shape: Struct, path: tuple[str, ...]) -> dict[str, Any]:
    fitted = {}
    for name, member in shape.members.items():
        value, here = given.get(name), (*path, name)
        if value is None and member.presence is Presence.IF_GIVEN:
            continue
        owner = shape.go.rpartition(".")[2]
        kept = _fit(value, member.shape, f"struct field {owner}.{'.'.join(here)} of type {member.shape.go}", here)
        if kept or member.presence is not Presence.UNLESS_EMPTY:
            fitted[name] = kept
    return fitted


def _scalar(value: Any, shape: Scalar, target: str) -> Any:
    if value is None:
        return shape.zero
    if type(value) is not shape.kind:
        raise _misfit(value, target)
    return value


def _moment(value: Any, target: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise _misfit(value, target)
    try:
        return times.to_seconds(times.parse(value))
    except ValueError:
        raise Misfit(f'parsing time "{value}" as "2006-01-02T15:04:05Z07:00": cannot parse') from None


def _misfit(value: Any, target: str) -> Misfit:
    return Misfit(f"json: cannot unmarshal {kind_of(value)} into Go {target}")


def kind_of(value: Any) -> str:
    """How Go's JSON package calls a value of this kind."""
    match value:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
