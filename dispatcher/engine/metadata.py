"""`adapter.*` as authors read it in CEL: one rule for every phase.

The first error of a run is `executionError`, and its phase is always the name of a phase. Every resource that failed is
in `resourceErrors`. The first reason for leaving resources alone is `skipReason`.
"""

from typing import Any, Final

from dispatcher.engine.runs import Phase, Status

_REASONS: Final = {
    Phase.PARAMS: "ParameterExtractionFailed",
    Phase.PRECONDITIONS: "PreconditionFailed",
    Phase.RESOURCES: "ResourceFailed",
    Phase.POST_ACTIONS: "PostActionFailed",
}


class Metadata:
    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: dict[str, Any] = {
            "executionStatus": Status.SUCCESS.value,
            "resourcesSkipped": False,
            "skipReason": "",
            "errorReason": "",
            "errorMessage": "",
            "executionError": None,
            "resourceErrors": {},
        }

    def fail(self, phase: Phase, step: str, message: str) -> None:
        error = {"phase": phase.value, "step": step, "message": message}
        if phase is Phase.RESOURCES and step:
            self.values["resourceErrors"] = {step: error} | self.values["resourceErrors"]
        if self.values["executionError"] is not None:
            return
        self.values["executionStatus"] = Status.FAILED.value
        self.values["executionError"] = error
        self.values["errorReason"] = _REASONS[phase]
        self.values["errorMessage"] = message

    def skip(self, reason: str) -> None:
        self.values["resourcesSkipped"] = True
        self.values["skipReason"] = self.values["skipReason"] or reason

    @property
    def status(self) -> Status:
        return Status(self.values["executionStatus"])

    @property
    def skipped(self) -> bool:
        return bool(self.values["resourcesSkipped"])

    @property
    def skip_reason(self) -> str:
        return str(self.values["skipReason"])
