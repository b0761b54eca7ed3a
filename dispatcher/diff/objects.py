"""The HyperFleet objects to compare: named ones, or all with given labels, page by page."""

import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from dispatcher.config.compiled import Adapter, ApiCall, ApiCallSource
from dispatcher.engine.calls import ensure_success, json_object
from dispatcher.engine.ports import ApiRequest, HyperFleetApi
from shared.errors import Invalid, NotFound

PAGE_SIZE = 100
CLUSTERS, NODE_POOLS = "clusters", "nodepools"
_NODE_POOL_URL = re.compile(rf"\b{NODE_POOLS}/")
_LABEL = re.compile(r"\s*([A-Za-z_][\w./-]*)\s*==?\s*([^\s=!,']*)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """`type_` is the plural in the API's paths. Without `ids`, all with these labels are meant."""

    type_: str
    ids: tuple[str, ...] = ()
    labels: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """`total` is how many objects all pages have together."""

    items: tuple[Mapping[str, Any], ...]
    total: int


def parse_selector(text: str) -> dict[str, str]:
    """`key=value`, several with commas. Raises Invalid."""
    labels = {}
    for part in text.split(","):
        match = _LABEL.fullmatch(part)
        if match is None:
            raise Invalid(f"{part.strip()!r} is no label to select by", remedy="write key=value, several with commas")
        labels[match[1]] = match[2]
    return labels


def type_of(adapter: Adapter) -> str:
    """What the adapter is for, by the URLs that it calls."""
    return NODE_POOLS if any(_NODE_POOL_URL.search(call.url.source) for call in _calls(adapter)) else CLUSTERS


def _calls(adapter: Adapter) -> Iterator[ApiCall]:
    yield from (each.source.call for each in adapter.params if isinstance(each.source, ApiCallSource))
    yield from (each.api_call for each in adapter.preconditions if each.api_call is not None)
    yield from (each.api_call for each in adapter.post_actions if each.api_call is not None)


async def pages(api: HyperFleetApi, choice: Choice) -> AsyncGenerator[Page, None]:
    """Raises NotFound for an id that the API does not know, and what the API refuses the list with."""
    if choice.ids:
        for identity in choice.ids:
            yield Page((await _get(api, f"{choice.type_}/{quote(identity, safe='')}"),), len(choice.ids))
        return
    # The oldest first: what is created meanwhile comes last and shifts no page.
    query = {"size": str(PAGE_SIZE), "order": "created_time asc"}
    if choice.labels:
        query["search"] = " and ".join(f"labels.{key}='{value}'" for key, value in choice.labels.items())
    number, seen, total = 1, 0, 1
    while seen < total:
        listed = await _get(api, f"{choice.type_}?{urlencode({**query, 'page': str(number)})}")
        items = tuple(each for each in listed.get("items") or () if isinstance(each, Mapping) and each.get("id"))
        number, seen, total = number + 1, seen + len(items), int(listed.get("total") or 0)
        yield Page(items, total)
        if not items:
            return


async def _get(api: HyperFleetApi, path: str) -> dict[str, Any]:
    response = await api.send(ApiRequest(method="GET", url=path))
    try:
        ensure_success("GET", response)
    except NotFound as error:
        raise NotFound(error.what, why=error.why, remedy="correct --id, or --type") from None
    return json_object(response.body, f"the answer to GET {response.url}")
