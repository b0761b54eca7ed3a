"""A diff for people: a title for each object that differs, unified diffs below it, and the sum at the end."""

from collections.abc import Iterator

from dispatcher.diff.documents import shown_pair, unified
from dispatcher.diff.fleet import Summary
from dispatcher.diff.object_diff import ObjectDiff
from dispatcher.diff.preview import Change
from dispatcher.diff.statuses import StatusChange
from dispatcher.dryrun.showing import Shown
from dispatcher.engine.resources.stamping import name_of, namespace_of

_BOLD, _RED, _GREEN, _CYAN, _PLAIN = "\033[1m", "\033[31m", "\033[32m", "\033[36m", "\033[0m"


def diff_lines(diff: ObjectDiff) -> Iterator[str]:
    """Nothing for an object that stays as it is."""
    if not diff.differs and not diff.failed:
        return
    shown = Shown(diff.result.secrets)
    yield f"{title(diff)}: {', '.join(_counts(diff))}"
    for error in diff.result.errors.values():
        yield f"! {shown.text(error)}"
    for change in diff.changes:
        yield from change_lines(change, shown)
    for status in diff.statuses:
        yield from status_lines(status, shown)
    for call in diff.calls:
        yield f"+ {call.method} {shown.text(call.url)}"
    yield ""


def title(diff: ObjectDiff) -> str:
    document = diff.document
    named = f" {document['name']}" if document.get("name") else ""
    return f"{document.get('kind', 'object')}{named} {document['id']} generation {document.get('generation')}"


def _counts(diff: ObjectDiff) -> Iterator[str]:
    if diff.failed:
        yield "failed"
    for change in diff.changes:
        yield f"{change.action} {change.object.get('kind')}" + (f" {change.later}" if change.later else "")
    yield from (f"report {'; '.join(status.transitions) or 'changes'}" for status in diff.statuses)
    yield from (f"call {call.method}" for call in diff.calls)


def change_lines(change: Change, shown: Shown) -> Iterator[str]:
    found = change.object
    where = "/".join(filter(None, (change.consumer or namespace_of(found), name_of(found))))
    named = f"{found.get('kind')} {where}"
    later = f" ({change.later})" if change.later else ""
    names = (
        f"live    {named if change.before is not None else '(none)'}",
        f"config  {named if change.after is not None else '(none)'}{later}",
    )
    yield from unified(*shown_pair(change.before, change.after, shown), names=names)


def status_lines(status: StatusChange, shown: Shown) -> Iterator[str]:
    names = f"stored  status {status.url}", f"config  status {status.url}"
    before, after = (None if each is None else shown.value(each) for each in (status.before, status.after))
    yield from unified(before, after, names=names)


def coloured(line: str) -> str:
    colours = {"---": _BOLD, "+++": _BOLD, "@@ ": _CYAN}
    colour = colours.get(line[:3]) or {"-": _RED, "+": _GREEN, "!": _RED}.get(line[:1], "")
    return f"{colour}{line}{_PLAIN}" if colour else line


def summary_lines(summary: Summary) -> Iterator[str]:
    counts = f"{summary.same} same, {summary.different} different, {summary.failed} failed"
    yield f"{summary.objects} objects: {counts}"
    for (kind, action, later), number in sorted(summary.changes.items()):
        yield f"  {action} {number} {kind}" + (f" {later}" if later else "")
    if summary.reports:
        transitions = ", ".join(f"{name} {number}" for name, number in sorted(summary.transitions.items()))
        yield f"  report {summary.reports} statuses" + (f": {transitions}" if transitions else "")
    if summary.calls:
        yield f"  make {summary.calls} other calls of the API"
