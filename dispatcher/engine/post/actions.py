"""Post-actions in the order of the file. The first that fails is the last; one that finds no object is the end as well.

A 404 of a call says that the object is gone: nothing is left to report, and that is no failure. In a run whose object
was not found before, neither is any other refusal of its status: it was built from what is not there.
"""

from dispatcher.config.compiled import PostAction
from dispatcher.engine.calls import ensure_success, prepare, send
from dispatcher.engine.ports import ApiRequest
from dispatcher.engine.post.sending import StatusSender
from dispatcher.engine.post.statuses import StatusBody, status_in
from dispatcher.engine.running import NOT_FOUND, Failure, Run
from dispatcher.engine.runs import CallRecord, Delivery, Done, Phase, PostActionRecord, StatusReport
from shared.errors import NotFound, Permanent


async def execute_actions(
    run: Run, sender: StatusSender, skipped_payloads: frozenset[str], records: list[PostActionRecord]
) -> None:
    for action in run.adapter.post_actions:
        record = await _execute(run, sender, action, skipped_payloads)
        records.append(record)
        if record.done is Done.FAILED or record.reason == NOT_FOUND:
            return


async def _execute(
    run: Run, sender: StatusSender, action: PostAction, skipped_payloads: frozenset[str]
) -> PostActionRecord:
    calls: list[CallRecord] = []
    try:
        reason = _why_skipped(run, action, skipped_payloads)
        if reason:
            return PostActionRecord(name=action.name, done=Done.SKIPPED, reason=reason)
        if action.log is not None:
            run.log(action.log)
        if action.api_call is None:
            return PostActionRecord(name=action.name, done=Done.EXECUTED)
        request = prepare(run, action.api_call)
    except Failure as error:
        return _failed(run, action, error, calls)
    return await _call(run, sender, action, request, calls)


def _why_skipped(run: Run, action: PostAction, skipped_payloads: frozenset[str]) -> str:
    missing = sorted(action.payloads & skipped_payloads)
    if missing:
        return f"referenced payload '{missing[0]}' was skipped"
    if action.when is not None and not run.matches(action.when):
        return f"when condition evaluated to false: {action.when.source.strip()}"
    return ""


async def _call(
    run: Run, sender: StatusSender, action: PostAction, request: ApiRequest, calls: list[CallRecord]
) -> PostActionRecord:
    status = status_in(request, run.built)
    report: StatusReport | None = None
    done, reason = Done.EXECUTED, ""
    try:
        if status is None:
            ensure_success(request.method, await send(run, request, calls))
        else:
            report = await sender.deliver(request, status, calls)
            if report.delivery is Delivery.WITHHELD:
                done, reason = Done.SKIPPED, f"status withheld: {report.reason}"
    except Failure as error:
        if not _is_gone(run, status, error):
            return _failed(run, action, error, calls, status)
        done, reason = Done.SKIPPED, NOT_FOUND
    return PostActionRecord(name=action.name, done=done, reason=reason, calls=tuple(calls), report=report)


def _is_gone(run: Run, status: StatusBody | None, error: BaseException) -> bool:
    return isinstance(error, NotFound) or (run.not_found and status is not None and isinstance(error, Permanent))


def _failed(
    run: Run, action: PostAction, error: BaseException, calls: list[CallRecord], status: StatusBody | None = None
) -> PostActionRecord:
    message = run.fail(Phase.POST_ACTIONS, action.name, error)
    report = None
    if status is not None:
        report = StatusReport(url=status.url, delivery=Delivery.FAILED, reason=message, generation=status.generation)
    return PostActionRecord(name=action.name, done=Done.FAILED, error=message, calls=tuple(calls), report=report)
