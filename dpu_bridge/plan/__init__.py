"""What to do next for one bridge: `plan(observed)` is pure, its result is small actions and the status to write."""

from dpu_bridge.plan.actions import Action, Apply, CreateEncryptionKey, Delete, Notice, Patch, Plan
from dpu_bridge.plan.observed import ApproverState, Contender, Material, Observed, PlanSettings
from dpu_bridge.plan.planning import plan

__all__ = [
    "Action",
    "Apply",
    "ApproverState",
    "Contender",
    "CreateEncryptionKey",
    "Delete",
    "Material",
    "Notice",
    "Observed",
    "Patch",
    "Plan",
    "PlanSettings",
    "plan",
]
