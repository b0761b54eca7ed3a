"""A status that would be sent, beside the one that the API has of this adapter."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dispatcher.engine.calls import is_success, json_object
from dispatcher.engine.ports import ApiRequest, HyperFleetApi
from dispatcher.engine.post.statuses import StatusBody, own_status
from shared.errors import Invalid

_LARGEST_PAGE = 100
_STATED = ("status", "reason", "message")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusChange:
    """Generation, conditions and data, without times. `before` is None where nothing was reported yet."""

    url: str
    before: dict[str, Any] | None
    after: dict[str, Any]

    @property
    def transitions(self) -> list[str]:
        """Each condition whose status would change: `Available True -> False`."""
        before, after = _states(self.before or {}), _states(self.after)
        names = [*before, *(name for name in after if name not in before)]
        return [
            f"{name} {before.get(name, 'none')} -> {after.get(name, 'none')}"
            for name in names
            if before.get(name) != after.get(name)
        ]


async def status_change(api: HyperFleetApi, body: StatusBody) -> StatusChange | None:
    """None where the API has the same already. Raises Transient."""
    stored = await _stored(api, body)
    before, after = None if stored is None else _compared(stored), _compared(body.document)
    return None if before == after else StatusChange(url=body.url, before=before, after=after)


async def _stored(api: HyperFleetApi, body: StatusBody) -> Mapping[str, Any] | None:
    url = f"{body.url.partition('?')[0]}?size={_LARGEST_PAGE}"
    response = await api.send(ApiRequest(method="GET", url=url))
    try:
        return own_status(json_object(response.body, "the statuses"), body.adapter) if is_success(response) else None
    except Invalid:
        return None


def _compared(status: Mapping[str, Any]) -> dict[str, Any]:
    conditions = [each for each in status.get("conditions") or () if isinstance(each, Mapping)]
    stated = [
        {"type": str(each.get("type")), **{key: each.get(key) or "" for key in _STATED}}
        for each in sorted(conditions, key=lambda each: str(each.get("type")))
    ]
    return {
        "observed_generation": status.get("observed_generation"),
        "conditions": stated,
        "data": status.get("data") or {},
    }


def _states(status: Mapping[str, Any]) -> dict[str, str]:
    return {each["type"]: str(each["status"]) for each in status.get("conditions", ())}
