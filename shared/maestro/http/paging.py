"""Reading a list of Maestro to its end.

Page numbers move under the reader when rows come and go, so each page asks for what follows the last id of the page
before: nothing is shown twice and nothing that was there all the time is missed.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from shared.maestro.http.rest import Rest

# A row can carry half a megabyte of manifests and as much status again.
PAGE_SIZE = 100


async def pages(rest: Rest, what: str, path: str, terms: Sequence[str]) -> AsyncGenerator[dict[str, Any], None]:
    after: list[str] = []
    while True:
        parameters = {"orderBy": "id", "size": str(PAGE_SIZE), "page": "1"}
        if search := " and ".join([*terms, *after]):
            parameters["search"] = search
        items = (await rest.get(what, path, parameters)).get("items") or []
        for item in items:
            yield item
        if len(items) < PAGE_SIZE:
            return
        after = [f"id > '{items[-1]['id']}'"]
