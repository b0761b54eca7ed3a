"""One mapping of a configuration file: unknown keys are refused, and all that is wrong is found in one pass."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

_CUSTOM = "config"


class Block(BaseModel):
    """`rules` finds what is wrong with several members together; it runs even where one of them is wrong by itself.

    A member without a value (`params:`) is as good as absent, except the members named in `nullable`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    nullable: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def rules(cls, members: Mapping[str, Any]) -> Iterator[PydanticCustomError]:  # noqa: ARG003 - most have none
        """The members as they were written. Nothing is known of their kinds yet."""
        yield from ()

    @model_validator(mode="wrap")
    @classmethod
    def _validated(cls, value: Any, handler: ModelWrapValidatorHandler["Block"]) -> Any:
        if not isinstance(value, Mapping):
            return handler(value)
        empty = cls.model_fields.keys() - cls.nullable
        members = {key: each for key, each in value.items() if each is not None or key not in empty}
        broken = list(cls.rules(members))
        try:
            block = handler(members)
        except ValidationError as error:
            details = [_again(each) for each in error.errors(include_url=False)]
        else:
            details = []
        for rule in broken:
            key = str((rule.context or {}).get("key", ""))
            loc = (key,) if key else ()
            details.append(InitErrorDetails(type=rule, loc=loc, input=value))
        if details:
            raise ValidationError.from_exception_data(cls.__name__, details)
        return block


def _again(error: Any) -> InitErrorDetails:
    """A line of an error as pydantic takes it for a new one."""
    context = error.get("ctx", {})
    kind = PydanticCustomError(_CUSTOM, "{problem}", context) if error["type"] == _CUSTOM else error["type"]
    return InitErrorDetails(type=kind, loc=error["loc"], input=error["input"], ctx=context)
