"""Watches: all changes after a revision, in order, with bookmarks, until the watch's timeout."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lab.kubernetes.api import refusals
from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.kinds import Kind
from lab.kubernetes.storage.selectors import Test
from lab.kubernetes.storage.store import Change, Store

# The real server sends a last bookmark this long before it ends a watch.
_BOOKMARK_BEFORE_END = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """The options of a watch. With `since` None it sends the existing objects first."""

    kind: Kind
    namespace: str
    matches: Test
    since: int | None
    seconds: float
    bookmark_seconds: float | None


async def events(store: Store, watched: Watched) -> AsyncIterator[Object]:
    """The events, one per line of the response. It ends after the timeout."""
    if watched.since is not None and watched.since < store.oldest:
        why = f"too old resource version: {watched.since} ({store.oldest})"
        yield {"type": "ERROR", "object": refusals.expired(why).document}
        return
    news: asyncio.Queue[Change] = asyncio.Queue()
    store.listen(news.put_nowait)
    try:
        started = store.revision
        for event in _first(store, watched):
            yield event
        clock = asyncio.get_running_loop()
        end = clock.time() + watched.seconds
        bookmark_at = _next_bookmark(watched, clock.time(), end)
        while clock.time() < end:
            change = await _next_change(news, min(end, bookmark_at))
            for event in _events_of(watched, [change] if change else []):
                yield event
            if (now := clock.time()) >= bookmark_at and now < end:
                if store.revision > started:
                    yield _bookmark(watched.kind, store.revision)
                bookmark_at = _next_bookmark(watched, now, end)
    finally:
        store.ignore(news.put_nowait)


async def _next_change(news: asyncio.Queue[Change], until: float) -> Change | None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout_at(until):
            return await news.get()
    return None


def _first(store: Store, watched: Watched) -> Iterator[Object]:
    if watched.since is not None:
        yield from _events_of(watched, store.since(watched.since))
        return
    for document in store.of_kind(watched.kind, watched.namespace):
        if watched.matches(document):
            yield {"type": "ADDED", "object": document}
    if watched.bookmark_seconds is not None:
        yield _bookmark(watched.kind, store.revision, annotations={"k8s.io/initial-events-end": "true"})


def _events_of(watched: Watched, changes: Iterable[Change]) -> Iterator[Object]:
    """An object that starts to match the selector is ADDED, one that stops matching is DELETED."""
    for change in changes:
        if not change.key.within(watched.kind, watched.namespace):
            continue
        was = change.before is not None and watched.matches(change.before)
        is_ = change.after is not None and watched.matches(change.after)
        if is_:
            yield {"type": "MODIFIED" if was else "ADDED", "object": change.final}
        elif was:
            yield {"type": "DELETED", "object": change.final}


def _next_bookmark(watched: Watched, now: float, end: float) -> float:
    if watched.bookmark_seconds is None:
        return end
    last = end - _BOOKMARK_BEFORE_END
    regular = now + watched.bookmark_seconds
    return min(regular, last) if now < last else regular


def _bookmark(kind: Kind, revision: int, **more: Any) -> Object:
    metadata = {"resourceVersion": str(revision), **more}
    return {"type": "BOOKMARK", "object": {"kind": kind.name, "apiVersion": kind.api_version, "metadata": metadata}}
