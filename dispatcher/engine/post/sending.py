"""Sending a status: with the right time, not where it is better withheld, and with care for what the API made of it.

A discarded status is never repeated as it was: what the API has is read, and only another observation can be sent.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus
from typing import Any

from dispatcher.engine.calls import ensure_success, is_success, json_object, send
from dispatcher.engine.ports import ApiRequest, ApiResponse
from dispatcher.engine.post.observed_times import ObservedTimes
from dispatcher.engine.post.payloads import to_json
from dispatcher.engine.post.statuses import StatusBody, differs_from, explain_discard, own_status, reported_time
from dispatcher.engine.post.withholding import Silence, nothing_new, silence_of
from dispatcher.engine.running import Failure, Run
from dispatcher.engine.runs import CallRecord, Delivery, Requeue, ResourceRecord, StatusReport
from shared import times
from shared.errors import Invalid, NotFound, Transient

_LARGEST_PAGE = 100
# The deletion shows how a Job was at last, and may arrive after the run about another object began.
_DELETION_ARRIVES_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class StatusSender:
    """`silence` is how many seconds a watched resource may take until its own first report."""

    run: Run
    resources: tuple[ResourceRecord, ...]
    observed_times: ObservedTimes
    silence: float

    async def deliver(self, request: ApiRequest, status: StatusBody, calls: list[CallRecord]) -> StatusReport:
        """Raises what `ensure_success` raises where the API refuses it."""
        key = (status.url, status.adapter)
        delivered = bool(self.run.request.delivered)
        at = self.observed_times.next(key, self.run.observed_at, delivered=delivered)
        withheld = await self._why_withheld(status, at, calls)
        if withheld or at is None:
            return self._report(status, Delivery.WITHHELD, withheld)
        body = to_json({**status.document, "observed_time": times.to_micros(at)})
        response = await send(self.run, replace(request, body=body), calls)
        ensure_success(request.method, response)
        self.observed_times.sent(key, self.run.observed_at, at)
        if response.status == HTTPStatus.NO_CONTENT:
            return await self._discarded(status, at, calls)
        return self._stored(status, at, response)

    async def _why_withheld(self, status: StatusBody, at: datetime | None, calls: list[CallRecord]) -> str:
        run = self.run
        reason = run.withhold or nothing_new(run.request.cause, unmet=run.unmet)
        if reason:
            return reason
        if at is None:
            return "a later observation was already reported"
        quiet = silence_of(
            run.adapter.resources, self.resources, run.variables.resources, run.ports.clock.now(), self.silence
        )
        if quiet is None and not run.missing_job:
            return ""
        try:
            stored = await self._own_status(status, calls)
        except Transient as error:
            run.run_again(Requeue(reason=run.text_of(error), after=error.retry_after))
            return f"{_state_of(quiet, run)}, and the API does not say what was reported before"
        if stored is None or stored.get("observed_generation") != status.generation:
            return ""
        reason = f"{_state_of(quiet, run)}, and generation {status.generation} was reported before"
        if quiet is None:
            run.run_again(Requeue(reason=reason, after=_DELETION_ARRIVES_SECONDS))
            return reason
        # A Job that has gone meanwhile, and was not seen here, must not be created without an event.
        run.run_again(Requeue(reason=reason, after=quiet.remaining, observe_only=not quiet.waits))
        return reason

    async def _discarded(self, status: StatusBody, at: datetime, calls: list[CallRecord]) -> StatusReport:
        run = self.run
        stored = None
        try:
            found = await self._get(status.object_url, calls)
            stored = await self._own_status(status, calls)
        except NotFound:
            found = None
        except Failure as error:
            if isinstance(error, Transient):
                run.run_again(Requeue(reason=run.text_of(error), after=error.retry_after))
            return self._report(status, Delivery.DISCARDED, run.text_of(error), at)
        discard = explain_discard(status, at, found, stored, self.observed_times.moved(run.ports.clock.now()))
        if discard.requeue is not None:
            run.run_again(discard.requeue)
        return self._report(status, Delivery.DISCARDED, discard.reason, at)

    def _stored(self, status: StatusBody, at: datetime, response: ApiResponse) -> StatusReport:
        try:
            echoed = json_object(response.body or b"{}", "the stored status")
        except Invalid:
            echoed = {}
        if not differs_from(status, echoed):
            return self._report(status, Delivery.STORED, "", at)
        reason = "the API kept another status of the same instant"
        self.run.run_again(Requeue(reason=reason))
        return self._report(status, Delivery.DISCARDED, reason, at)

    async def _own_status(self, status: StatusBody, calls: list[CallRecord]) -> Any:
        """Our status as the API has it; None where it has none. Raises Transient where the API does not answer."""
        url = status.url.partition("?")[0]
        try:
            listed = await self._get(url, calls)
            stored = own_status(listed, status.adapter)
            items = listed.get("items")
            if stored is None and isinstance(items, list) and listed.get("total", 0) > len(items):
                stored = own_status(await self._get(f"{url}?size={_LARGEST_PAGE}", calls), status.adapter)
        except Transient:
            raise
        except (*Failure, TypeError):
            return None
        reported = reported_time(stored)
        if reported is not None:
            self.observed_times.learn(reported, self.run.ports.clock.now())
        return stored

    async def _get(self, url: str, calls: list[CallRecord]) -> dict[str, Any]:
        response = await send(self.run, ApiRequest(method="GET", url=url), calls)
        if not is_success(response):
            ensure_success("GET", response)
        return json_object(response.body, f"the answer to GET {url}")

    @staticmethod
    def _report(status: StatusBody, delivery: Delivery, reason: str, at: datetime | None = None) -> StatusReport:
        return StatusReport(
            url=status.url, delivery=delivery, reason=reason, generation=status.generation, observed_time=at
        )


def _state_of(quiet: Silence | None, run: Run) -> str:
    return f"{run.missing_job} is gone" if quiet is None else f"{quiet.resource} has not reported yet"
