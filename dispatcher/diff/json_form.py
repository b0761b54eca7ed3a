"""A diff for programs."""

from typing import Any

from dispatcher.diff.documents import shown_pair
from dispatcher.diff.fleet import Summary
from dispatcher.diff.object_diff import ObjectDiff
from dispatcher.diff.preview import Change
from dispatcher.dryrun.showing import Shown
from dispatcher.engine.resources.stamping import name_of, namespace_of


def object_json(diff: ObjectDiff) -> dict[str, Any]:
    shown, document = Shown(diff.result.secrets), diff.document
    return {
        **{name: document.get(name) for name in ("kind", "id", "name", "generation")},
        "result": "failed" if diff.failed else "different" if diff.differs else "same",
        "changes": [_change(each, shown) for each in diff.changes],
        "statuses": [
            {
                "url": each.url,
                "transitions": each.transitions,
                "before": None if each.before is None else shown.value(each.before),
                "after": shown.value(each.after),
            }
            for each in diff.statuses
        ],
        "calls": [{"method": each.method, "url": shown.text(each.url)} for each in diff.calls],
        "errors": {phase.value: shown.text(error) for phase, error in diff.result.errors.items()},
        "skipReason": shown.text(diff.result.skip_reason),
    }


def _change(change: Change, shown: Shown) -> dict[str, Any]:
    found = change.object
    before, after = shown_pair(change.before, change.after, shown)
    return {
        "action": change.action.value,
        "later": change.later,
        "kind": found.get("kind"),
        "cluster": change.consumer,
        "namespace": "" if change.consumer else namespace_of(found),
        "name": name_of(found),
        "before": before,
        "after": after,
    }


def summary_json(summary: Summary) -> dict[str, Any]:
    return {
        "objects": summary.objects,
        "same": summary.same,
        "different": summary.different,
        "failed": summary.failed,
        "changes": [
            {"kind": kind, "action": action, "later": later, "count": number}
            for (kind, action, later), number in sorted(summary.changes.items())
        ],
        "statuses": {"count": summary.reports, "transitions": dict(sorted(summary.transitions.items()))},
        "calls": summary.calls,
    }
