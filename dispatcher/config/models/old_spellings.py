"""Spellings of the first design documents, and what the same block is called today.

A block in an old spelling is refused with its modern form, which is then checked in its place.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from dispatcher.config.reading.paths import Path
from dispatcher.config.reading.scalars import plain
from dispatcher.config.showing.dumping import as_yaml

_ENVELOPE: Final = frozenset({"apiVersion", "kind", "spec"})
_RENAMED: Final = {
    "apiCall": "api_call",
    "endpoint": "url",
    "retryAttempts": "retry_attempts",
    "retryBackoff": "retry_backoff",
    "as": "name",
    "nestedDiscoveries": "nested_discoveries",
    "byName": "by_name",
    "bySelectors": "by_selectors",
    "labelSelector": "label_selector",
    "recreateOnChange": "recreate_on_change",
    "parameters": "payloads",
    "postActions": "post_actions",
    "buildRef": "build_ref",
}
# What stands below these keys is the author's own.
_FOREIGN: Final = frozenset(
    {"manifest", "build", "default", "value", "values", "label_selector", "labelSelector", "spec"}
)
_API_PREFIX = re.compile(r"^\s*(?:\{\{[^}]*\}\}|https?://[^/]+)?/api/(?:hyperfleet/)?(?:\{\{[^}]*\}\}|v\d+)(?=/)")
_GENERATION: Final = {"hyperfleet.io/generation": "{{ .generation }}"}


@dataclass(frozen=True, slots=True)
class OldBlock:
    """`key` is the first old key in the block at `path`; `modern` is the whole block today."""

    path: Path
    key: Path
    modern: Any

    @property
    def message(self) -> str:
        return f"{self.key[-1]} is an old spelling"

    @property
    def hint(self) -> str:
        block = [self.modern] if self.path and isinstance(self.path[-1], int) else self.modern
        return f"today this block is written:\n{as_yaml(plain(block))}"


def modernised(data: Any) -> tuple[Any, list[OldBlock]]:
    """The task config with its old blocks in modern form, and these blocks."""
    if not isinstance(data, dict):
        return data, []
    if _has_envelope(data):
        inner, _ = modernised(data["spec"])
        return inner, [OldBlock((), ("spec",), inner)]
    found: list[OldBlock] = []
    changed = dict(data)
    for name, modern in (("preconditions", dict), ("resources", _resource)):
        blocks = data.get(name)
        if isinstance(blocks, list):
            changed[name] = [_block(each, (name, index), modern, found) for index, each in enumerate(blocks)]
    if "post" in data:
        changed["post"] = _block(data["post"], ("post",), _post, found)
    if "postActions" in data:
        moved = _post({"post_actions": _renamed(changed.pop("postActions"))})
        found.append(OldBlock(("postActions",), ("postActions",), {"post": moved}))
        post = changed.get("post")
        changed["post"] = {**post, **moved} if isinstance(post, dict) else moved
    return changed, found


def modernised_adapter(data: Any) -> tuple[Any, list[OldBlock]]:
    """The same for an adapter config, of which only the envelope is old."""
    if not _has_envelope(data):
        return data, []
    metadata = data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    inner = {_snake(key): _snake_keys(value) for key, value in data["spec"].items()}
    named = {"adapter": {"name": name or "my-adapter", **(inner.pop("adapter", None) or {})}, **inner}
    return named, [OldBlock((), ("spec",), named)]


def _has_envelope(data: Any) -> bool:
    return isinstance(data, dict) and data.keys() >= _ENVELOPE and isinstance(data["spec"], dict)


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: f"_{found[1].lower()}", key)


def _snake_keys(value: Any) -> Any:
    return {_snake(key): _snake_keys(each) for key, each in value.items()} if isinstance(value, dict) else value


def _block(block: Any, path: Path, modern: Any, found: list[OldBlock]) -> Any:
    if not isinstance(block, dict):
        return block
    old = next(_old_keys(block, path), None)
    if old is None:
        return block
    found.append(OldBlock(path, old, modern(_renamed(block))))
    return found[-1].modern


def _old_keys(block: Any, path: Path) -> Iterator[Path]:
    """The keys of a block that are spelt in the old way, in order."""
    if isinstance(block, list):
        for index, each in enumerate(block):
            yield from _old_keys(each, (*path, index))
    if not isinstance(block, dict):
        return
    if "manifest" not in block and {"kind", "apiVersion"} <= block.keys():
        yield (*path, "kind")
    for key, value in block.items():
        if (key in _RENAMED and not (key == "as" and "name" in block)) or key in {"backend", "targetCluster"}:
            yield (*path, key)
        if key not in _FOREIGN:
            yield from _old_keys(value, (*path, key))


def _renamed(block: Any) -> Any:
    """The block with today's keys; paths of the API lose the part that the client adds by itself."""
    if isinstance(block, list):
        return [_renamed(each) for each in block]
    if not isinstance(block, dict):
        return block
    modern = {_RENAMED.get(key, key): value if key in _FOREIGN else _renamed(value) for key, value in block.items()}
    if isinstance(modern.get("by_selectors"), dict):
        modern["by_selectors"] = {_RENAMED.get(key, key): value for key, value in modern["by_selectors"].items()}
    if isinstance(block.get("endpoint"), str):
        modern["url"] = _API_PREFIX.sub("", block["endpoint"])
    return modern


def _resource(block: dict[str, Any]) -> dict[str, Any]:
    rest = dict(block)
    backend, target = rest.pop("backend", None), rest.pop("targetCluster", None)
    target = target or _nested_target(rest)
    if "manifest" not in rest and {"kind", "apiVersion"} <= rest.keys():
        rest = _with_manifest(rest)
    if backend != "maestro" and target is None:
        return rest
    manifest = rest.pop("manifest", {})
    name = rest.pop("name", "work")
    discovery = rest.pop("discovery", {"by_name": _name_of(manifest)})
    if not isinstance(manifest, dict) or manifest.get("kind") != "ManifestWork":
        manifest = _work(manifest)
    transport = {"client": "maestro", "maestro": {"target_cluster": target or "{{ .managementCluster }}"}}
    return {"name": name, "transport": transport, "manifest": manifest, "discovery": discovery, **rest}


def _with_manifest(block: dict[str, Any]) -> dict[str, Any]:
    """A resource that was the object itself."""
    rest = dict(block)
    kind, name, namespace = str(rest["kind"]), rest.pop("name", "{{ .clusterId }}"), rest.pop("namespace", None)
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), "annotations": dict(_GENERATION)}
    manifest = {"apiVersion": rest.pop("apiVersion"), "kind": rest.pop("kind"), "metadata": metadata, **rest}
    discovery = {**({"namespace": namespace} if namespace else {}), "by_name": name}
    return {"name": kind[:1].lower() + kind[1:], "manifest": manifest, "discovery": discovery}


def _name_of(manifest: Any) -> str:
    metadata = manifest.get("metadata") if isinstance(manifest, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return str(name) if name else "{{ .clusterId }}"


def _work(manifest: Any) -> dict[str, Any]:
    """The work that the old framework put around a manifest by itself."""
    return {
        "apiVersion": "work.open-cluster-management.io/v1",
        "kind": "ManifestWork",
        "metadata": {"name": _name_of(manifest), "annotations": dict(_GENERATION)},
        "spec": {"workload": {"manifests": [_with_generation(manifest)]}},
    }


def _with_generation(manifest: Any) -> Any:
    """Maestro's transport demands the annotation on every object of a work."""
    metadata = manifest.get("metadata") if isinstance(manifest, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("annotations", {}), dict):
        return manifest
    return {**manifest, "metadata": {**metadata, "annotations": {**_GENERATION, **metadata.get("annotations", {})}}}


def _nested_target(block: dict[str, Any]) -> Any:
    """`transport.maestro.targetCluster`, taken out of the block."""
    transport = block.get("transport")
    maestro = transport.get("maestro") if isinstance(transport, dict) else None
    if not isinstance(maestro, dict) or "targetCluster" not in maestro:
        return None
    del block["transport"]
    return maestro["targetCluster"]


def _post(block: dict[str, Any]) -> dict[str, Any]:
    actions = block.get("post_actions")
    if not isinstance(actions, list):
        return block
    return {**block, "post_actions": [_action(each, index) for index, each in enumerate(actions)]}


def _action(block: Any, index: int) -> Any:
    """An action that was the call itself gets a name; a status is put, not posted."""
    if not isinstance(block, dict):
        return block
    if "api_call" in block or "url" not in block:
        return {**block, "api_call": _put(block["api_call"])} if "api_call" in block else block
    call = {key: value for key, value in block.items() if key not in {"type", "name"}}
    name = block.get("name") or ("reportStatus" if index == 0 else f"reportStatus{index + 1}")
    return {"name": name, "api_call": _put(call)}


def _put(call: Any) -> Any:
    if isinstance(call, dict) and call.get("method") == "POST" and str(call.get("url", "")).endswith("/statuses"):
        return {**call, "method": "PUT"}
    return call
