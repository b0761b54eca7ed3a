"""The environment of a container: its variables, where their values come from, and `$(NAME)` in them."""

import base64
import re
from collections.abc import Awaitable, Callable, Mapping

from lab.kubernetes.api import documents
from lab.kubernetes.api.documents import Object

_REFERENCE = re.compile(r"\$(\$)?\(([^)]+)\)")
_SUBSCRIPT = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]")
_FIELDS = {
    "metadata.name": ("metadata", "name"),
    "metadata.namespace": ("metadata", "namespace"),
    "metadata.uid": ("metadata", "uid"),
    "spec.nodeName": ("spec", "nodeName"),
    "spec.serviceAccountName": ("spec", "serviceAccountName"),
}
_NODE_ADDRESS = "127.0.0.1"

Fetch = Callable[[str, str], Awaitable[Object]]


class CannotConfigure(Exception):
    """The source of a value does not exist; the container waits for it."""


def field_value(pod: Object, path: str) -> str:
    """A field of the pod, as the downward API gives it."""
    if subscript := _SUBSCRIPT.fullmatch(path):
        return str((documents.metadata(pod).get(subscript[1]) or {}).get(subscript[2], ""))
    if path in ("metadata.labels", "metadata.annotations"):
        values: Mapping[str, str] = documents.metadata(pod).get(path.partition(".")[2]) or {}
        return "\n".join(f'{key}="{_escaped(value)}"' for key, value in sorted(values.items()))
    if path in _FIELDS:
        return str(documents.at(pod, *_FIELDS[path]) or "")
    if path in ("status.podIP", "status.hostIP"):
        return _NODE_ADDRESS
    raise CannotConfigure(f"unsupported fieldPath: {path}")


async def variables(pod: Object, container: Object, fetch: Fetch) -> dict[str, str]:
    """`envFrom`, then `env` in order. `fetch` gets an object of the pod's namespace by plural and name."""
    found: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        found |= await _all_from(source, fetch)
    for each in container.get("env") or ():
        if source := each.get("valueFrom"):
            value = await _from(pod, source, fetch)
        else:
            value = expanded(each.get("value") or "", found)
        if value is not None:
            found[each["name"]] = value
    return found


def expanded(text: str, known: Mapping[str, str]) -> str:
    """Replaces `$(NAME)` of known names; `$$(NAME)` becomes `$(NAME)`."""

    def replaced(match: re.Match[str]) -> str:
        if match[1]:
            return f"$({match[2]})"
        return known.get(match[2], match[0])

    return _REFERENCE.sub(replaced, text)


async def _all_from(source: Object, fetch: Fetch) -> dict[str, str]:
    """Every key of a ConfigMap or a Secret, with the prefix that is asked for."""
    if reference := source.get("configMapRef"):
        plural, kind = "configmaps", "configmap"
    elif reference := source.get("secretRef"):
        plural, kind = "secrets", "secret"
    else:
        raise CannotConfigure(f"the lab gives no variables from {', '.join(source)}")
    try:
        data: Mapping[str, str] = (await fetch(plural, reference["name"])).get("data") or {}
    except LookupError:
        if reference.get("optional"):
            return {}
        raise CannotConfigure(f'{kind} "{reference["name"]}" not found') from None
    decoded = {key: base64.b64decode(value).decode() for key, value in data.items()} if kind == "secret" else data
    return {f"{source.get('prefix', '')}{key}": value for key, value in decoded.items()}


async def _from(pod: Object, source: Object, fetch: Fetch) -> str | None:
    if reference := source.get("fieldRef"):
        return field_value(pod, reference["fieldPath"])
    if reference := source.get("configMapKeyRef"):
        return await _keyed(pod, reference, "configmaps", "ConfigMap", fetch)
    if reference := source.get("secretKeyRef"):
        value = await _keyed(pod, reference, "secrets", "Secret", fetch)
        return None if value is None else base64.b64decode(value).decode()
    raise CannotConfigure(f"the lab gives no value from {', '.join(source)}")


async def _keyed(pod: Object, reference: Object, plural: str, kind: str, fetch: Fetch) -> str | None:
    name, key = reference["name"], reference["key"]
    try:
        data: Mapping[str, str] = (await fetch(plural, name)).get("data") or {}
    except LookupError:
        if reference.get("optional"):
            return None
        raise CannotConfigure(f'{kind.lower()} "{name}" not found') from None
    if key not in data and not reference.get("optional"):
        raise CannotConfigure(f"couldn't find key {key} in {kind} {documents.namespace(pod)}/{name}")
    return data.get(key)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
