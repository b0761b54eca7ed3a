"""Reads options and body of an HTTP request."""

import json
import random
from typing import Any

import yaml
from aiohttp import web

from lab.kubernetes.api import refusals
from lab.kubernetes.api.documents import Object
from lab.kubernetes.apply.patches import APPLY_PATCH
from lab.kubernetes.http_api import protobuf
from lab.kubernetes.storage.listing import Page
from lab.kubernetes.storage.resources import DeleteOptions, WriteOptions

_TRUE = ("true", "1")
# Without timeoutSeconds the real server picks a random timeout in this range, so that watches end at different times.
_WATCH_SECONDS = (1800, 3600)


def is_watch(request: web.Request) -> bool:
    return request.query.get("watch") in _TRUE


def page(request: web.Request) -> Page:
    query = request.query
    return Page(
        labels=query.get("labelSelector", ""),
        fields=query.get("fieldSelector", ""),
        limit=number(request, "limit") or 0,
        token=query.get("continue", ""),
    )


def watch_since(request: web.Request) -> int | None:
    """The resourceVersion to start from; None sends the existing objects first."""
    return number(request, "resourceVersion") or None


def watch_seconds(request: web.Request) -> float:
    return number(request, "timeoutSeconds") or random.randint(*_WATCH_SECONDS)


def wants_bookmarks(request: web.Request) -> bool:
    return request.query.get("allowWatchBookmarks") in _TRUE


def write_options(request: web.Request) -> WriteOptions:
    agent = request.headers.get("User-Agent", "unknown").partition("/")[0]
    return WriteOptions(
        manager=request.query.get("fieldManager") or agent,
        force=request.query.get("force") in _TRUE,
        dry_run=request.query.get("dryRun") == "All",
    )


async def delete_options(request: web.Request) -> DeleteOptions:
    """From the query and the body."""
    stated: Object = await document(request) if request.can_read_body else {}
    grace = stated.get("gracePeriodSeconds")
    return DeleteOptions(
        policy=request.query.get("propagationPolicy") or stated.get("propagationPolicy") or "",
        grace_seconds=number(request, "gracePeriodSeconds") if grace is None else grace,
        preconditions=stated.get("preconditions") or {},
        dry_run=request.query.get("dryRun") == "All" or "All" in (stated.get("dryRun") or ()),
    )


def number(request: web.Request, name: str) -> int | None:
    text = request.query.get(name)
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise refusals.bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None


async def document(request: web.Request) -> Object:
    found = await body(request)
    if not isinstance(found, dict):
        raise refusals.bad_request(f"couldn't get version/kind; json parse error: {type(found).__name__} is no object")
    return found


async def body(request: web.Request) -> Any:
    try:
        content = await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise refusals.too_large(request.client_max_size) from error
    try:
        if request.content_type in (APPLY_PATCH, "application/yaml"):
            return _yaml(content)
        if request.content_type == protobuf.MEDIA_TYPE:
            return protobuf.decode(content)
        return json.loads(content)
    except protobuf.UnknownKind:
        raise refusals.unsupported_media_type(["application/json", "application/yaml"]) from None
    except (ValueError, yaml.YAMLError) as error:
        raise refusals.bad_request(f"error decoding the body: {error}") from None


def _yaml(content: bytes) -> Any:
    """Most clients send JSON, which is YAML too, and is read much faster."""
    try:
        return json.loads(content)
    except ValueError:
        return yaml.safe_load(content)
