"""The trace for programs, under the Go framework's keys. Sections without content are left out."""

from typing import Any

from dispatcher.dryrun.rehearsing import Rehearsal
from dispatcher.dryrun.showing import Shown, compact
from dispatcher.dryrun.transport import TransportRecord
from dispatcher.engine.ports import ApiRequest, ApiResponse
from dispatcher.engine.runs import Done, PostActionRecord, PreconditionRecord, ResourceRecord, Status, Verdict


def json_trace(rehearsal: Rehearsal, *, verbose: bool) -> dict[str, Any]:
    result, shown = rehearsal.result, Shown(rehearsal.result.secrets)
    return {
        "event": {"id": rehearsal.event.id, "type": rehearsal.event.type},
        "status": result.status.value,
        **_filled(
            skipReason=shown.text(result.skip_reason),
            params={each.name: shown.value(each.value, key=each.name) for each in result.params if each.resolved},
            preconditions=[_precondition(each, shown) for each in result.preconditions],
            resources=[_resource(each, shown, verbose=verbose) for each in result.resources],
            discoveredResources={name: shown.value(found) for name, found in result.discovered.items()},
            postActions=[_post_action(each, shown) for each in result.post_actions],
            errors={phase.value: shown.text(error) for phase, error in result.errors.items()},
            warnings=[shown.text(each) for each in (*result.warnings, *_unmatched(rehearsal))],
            apiRequests=[_request(*each, shown, verbose=verbose) for each in rehearsal.requests],
            transportOperations=[_transport_operation(each) for each in rehearsal.operations],
            requeue=shown.text(result.requeue.reason) if result.requeue else "",
        ),
    }


def _unmatched(rehearsal: Rehearsal) -> list[str]:
    return [f"no mock answers {each}" for each in rehearsal.unmatched]


def _precondition(step: PreconditionRecord, shown: Shown) -> dict[str, Any]:
    failed = step.verdict is Verdict.FAILED
    return {
        "name": step.name,
        "status": (Status.FAILED if failed else Status.SUCCESS).value,
        "matched": step.verdict is Verdict.MET,
        **_filled(
            reason=shown.text(step.reason),
            error=shown.text(step.error),
            captured={name: shown.value(value, key=name) for name, value in step.captured.items()},
        ),
    }


def _resource(step: ResourceRecord, shown: Shown, *, verbose: bool) -> dict[str, Any]:
    return {
        "name": step.name,
        "kind": step.kind,
        **_filled(namespace=step.namespace, resourceName=step.object_name),
        "status": (Status.FAILED if step.error else Status.SUCCESS).value,
        "operation": step.operation.value if step.operation else "",
        **_filled(
            reason=shown.text(step.reason),
            error=shown.text(step.error),
            manifest=shown.value(step.manifest) if verbose else None,
            discoveredState=shown.value(step.deleted),
        ),
    }


def _post_action(step: PostActionRecord, shown: Shown) -> dict[str, Any]:
    skipped = step.done is Done.SKIPPED
    status = {Done.EXECUTED: "success", Done.SKIPPED: "skipped", Done.FAILED: "failed"}[step.done]
    return {
        "name": step.name,
        "status": status,
        **({"skipped": True} if skipped else {}),
        **_filled(
            reason=shown.text(step.reason),
            error=shown.text(step.error),
            delivery=step.report.delivery.value if step.report else "",
            deliveryReason=shown.text(step.report.reason) if step.report else "",
        ),
    }


def _request(request: ApiRequest, response: ApiResponse, shown: Shown, *, verbose: bool) -> dict[str, Any]:
    return {
        "method": request.method,
        "url": shown.text(response.url),
        "statusCode": response.status,
        **_filled(
            requestBody=_text(shown.body(request.body)) if verbose and request.body else "",
            responseBody=_text(shown.body(response.body)) if verbose and response.body else "",
        ),
    }


def _transport_operation(record: TransportRecord) -> dict[str, Any]:
    return {
        "operation": record.operation,
        "kind": record.kind,
        **_filled(namespace=record.namespace),
        "name": record.name,
        **_filled(result=record.result),
    }


def _text(body: Any) -> str:
    return body if isinstance(body, str) else compact(body)


def _filled(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value not in ("", None, [], {})}
