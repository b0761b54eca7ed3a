"""Validation of a ManifestWork before it is sent: everything that Maestro or its agent would refuse or drop.

The agent drops what it cannot take with a log line only, so a mistake that is not found here is never reported.
`problems_of` finds all of them at once, each with its path.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from shared.errors import Invalid, Problem
from shared.model.manifestwork import ManifestWork

MAX_MANIFEST_BYTES = 512_000
MAX_ANNOTATION_BYTES = 256 * 1024
MAX_LABEL = 63
MAX_DNS_NAME = 253
MAX_EXACT_INTEGER = 2**53

_LABEL_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_DNS_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_VERSION = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_QUALIFIED_RULE = "must be a key such as hyperfleet.io/cluster-id"
_FORBIDDEN_METADATA = ("generateName", "resourceVersion", "deletionGracePeriodSeconds")


def validate(work: ManifestWork) -> None:
    problems = list(problems_of(work))
    if problems:
        raise Invalid(f"ManifestWork {work.name!r} is not valid", problems)


def problems_of(work: ManifestWork) -> Iterator[Problem]:
    yield from _label_name_problems(work.name, "metadata.name")
    yield from _label_name_problems(work.consumer, "metadata.namespace")
    yield from _metadata_problems(work.labels, work.annotations, "metadata")
    yield from _finalizer_problems(work.other_metadata.get("finalizers"), "metadata.finalizers")
    yield from _value_problems({"annotations": work.annotations, **work.other_metadata}, "metadata")
    yield from _value_problems(work.manifest_configs, "spec.manifestConfigs")
    yield from _value_problems(work.delete_option, "spec.deleteOption")
    yield from _value_problems(work.executor, "spec.executor")
    path = "spec.workload.manifests"
    if not work.manifests:
        yield Problem(path, "must hold at least one object")
    for index, manifest in enumerate(work.manifests):
        yield from _manifest_problems(manifest, f"{path}[{index}]")
    yield from _duplicate_problems(work.manifests, path)
    yield from _size_problems(work.manifests, path)


def object_problems(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """What would make a work with this object refused, by the object's own paths."""
    for each in (*_manifest_problems(manifest, "object"), *_size_problems((manifest,), "object")):
        yield Problem(each.path.removeprefix("object").lstrip("."), each.message)


def is_label_name(text: str) -> bool:
    """Whether `text` is an RFC 1123 label, which names of works and consumers must be."""
    return len(text) <= MAX_LABEL and _LABEL_NAME.fullmatch(text) is not None


def _label_name_problems(value: Any, path: str) -> Iterator[Problem]:
    if not value:
        yield Problem(path, "must be set")
    elif not isinstance(value, str) or not is_label_name(value):
        yield Problem(
            path,
            f"{value!r:.80} must be lower-case letters, digits and '-' (an RFC 1123 label, at most {MAX_LABEL} long)",
        )


def _metadata_problems(labels: Any, annotations: Any, path: str) -> Iterator[Problem]:
    for key, value in (labels or {}).items():
        if not _is_qualified(str(key)):
            yield Problem(f"{path}.labels[{key}]", _QUALIFIED_RULE)
        if not isinstance(value, str) or len(value) > MAX_LABEL or not _LABEL_VALUE.fullmatch(value):
            yield Problem(
                f"{path}.labels[{key}]",
                f"{value!r:.80} must be a string of letters, digits, '-', '_' and '.', at most {MAX_LABEL} long",
            )
    total = 0
    for key, value in (annotations or {}).items():
        if not _is_qualified(str(key).lower()):  # unlike a label's, an annotation's prefix may be in upper case
            yield Problem(f"{path}.annotations[{key}]", _QUALIFIED_RULE)
        if isinstance(value, str):
            total += len(str(key).encode()) + len(value.encode(errors="surrogatepass"))
        else:
            yield Problem(f"{path}.annotations[{key}]", f"must be a string, not {value!r:.60}")
    if total > MAX_ANNOTATION_BYTES:
        yield Problem(f"{path}.annotations", f"have {total} bytes in all, more than {MAX_ANNOTATION_BYTES}")


def _finalizer_problems(value: Any, path: str) -> Iterator[Problem]:
    for each in value if isinstance(value, list) else ():
        if not _is_qualified(str(each)):
            yield Problem(f"{path}[{each}]", _QUALIFIED_RULE)


def _is_qualified(text: str) -> bool:
    prefix, slash, name = text.rpartition("/")
    if slash and not _is_dns_name(prefix):
        return False
    return len(name) <= MAX_LABEL and _QUALIFIED.fullmatch(name) is not None


def _is_dns_name(text: str) -> bool:
    return len(text) <= MAX_DNS_NAME and _DNS_NAME.fullmatch(text) is not None


def _manifest_problems(manifest: Mapping[str, Any], path: str) -> Iterator[Problem]:
    metadata = manifest.get("metadata")
    yield from _api_version_problems(manifest.get("apiVersion"), f"{path}.apiVersion")
    if not isinstance(manifest.get("kind"), str) or not manifest["kind"]:
        yield Problem(f"{path}.kind", "must be set")
    if not isinstance(metadata, Mapping):
        yield Problem(f"{path}.metadata", "must be an object with a name")
    else:
        yield from _object_metadata_problems(metadata, f"{path}.metadata")
    yield from _value_problems(manifest, path)


def _api_version_problems(value: Any, path: str) -> Iterator[Problem]:
    group, slash, version = value.rpartition("/") if isinstance(value, str) else ("", "", "")
    is_version = len(version) <= MAX_LABEL and _VERSION.fullmatch(version)
    if not is_version or (slash and not _is_dns_name(group)):
        yield Problem(path, f"must be a version such as v1 or apps/v1, not {value!r:.60}")


def _object_metadata_problems(metadata: Mapping[str, Any], path: str) -> Iterator[Problem]:
    if not isinstance(metadata.get("name"), str) or not metadata["name"]:
        yield Problem(f"{path}.name", "must be set: an object without a fixed name cannot be found again")
    if metadata.get("namespace"):
        yield from _label_name_problems(metadata["namespace"], f"{path}.namespace")
    for key in _FORBIDDEN_METADATA:
        if metadata.get(key):
            yield Problem(f"{path}.{key}", "must not be set: the management cluster decides it")
    yield from _finalizer_problems(metadata.get("finalizers"), f"{path}.finalizers")
    labels, annotations = metadata.get("labels"), metadata.get("annotations")
    for key, value in (("labels", labels), ("annotations", annotations)):
        if value is not None and not isinstance(value, Mapping):
            yield Problem(f"{path}.{key}", f"must be an object, not {value!r:.60}")
    yield from _metadata_problems(
        labels if isinstance(labels, Mapping) else {}, annotations if isinstance(annotations, Mapping) else {}, path
    )


def _value_problems(value: Any, path: str) -> Iterator[Problem]:
    """Values that JSON, or Maestro's storage of it, would not give back as they are."""
    match value:
        case None | bool():
            return
        case str():
            yield from _text_problems(value, path)
        case int() | float():
            yield from _number_problems(value, path)
        case Mapping():
            for key, item in value.items():
                if not isinstance(key, str):
                    yield Problem(f"{path}.{key}", "the key must be a string; put it into quotes")
                yield from _value_problems(item, f"{path}.{key}")
        case list() | tuple():
            for index, item in enumerate(value):
                yield from _value_problems(item, f"{path}[{index}]")
        case _:
            yield Problem(path, f"{value!r:.60} is no JSON value")


def _number_problems(number: float, path: str) -> Iterator[Problem]:
    if not math.isfinite(number):
        yield Problem(path, f"{number} is no JSON number")
    elif isinstance(number, int) and abs(number) > MAX_EXACT_INTEGER:
        yield Problem(path, f"{number} would be rounded by Maestro, which keeps numbers as float64; use a string")


def _text_problems(text: str, path: str) -> Iterator[Problem]:
    if "\0" in text:
        yield Problem(path, "holds the character NUL, which Maestro's database does not take")
    try:
        text.encode()
    except UnicodeEncodeError:
        yield Problem(path, "holds half a character, which is no text in UTF-8")


def _duplicate_problems(manifests: tuple[Mapping[str, Any], ...], path: str) -> Iterator[Problem]:
    seen: dict[tuple[str, ...], int] = {}
    for index, manifest in enumerate(manifests):
        metadata = manifest.get("metadata")
        if not isinstance(metadata, Mapping) or not metadata.get("name"):
            continue
        identity = (
            *(str(manifest.get(key) or "") for key in ("apiVersion", "kind")),
            *(str(metadata.get(key) or "") for key in ("namespace", "name")),
        )
        if identity in seen:
            yield Problem(f"{path}[{index}]", f"is the same object as {path}[{seen[identity]}]: {' '.join(identity)}")
        seen.setdefault(identity, index)


def _size_problems(manifests: tuple[Mapping[str, Any], ...], path: str) -> Iterator[Problem]:
    try:
        size = sum(_bytes_at_the_agent(manifest) for manifest in manifests)
    except (TypeError, ValueError):
        return  # values that are not JSON were reported by another rule
    if size > MAX_MANIFEST_BYTES:
        yield Problem(path, f"have {size} bytes in all; the agent takes at most {MAX_MANIFEST_BYTES}")


def _bytes_at_the_agent(manifest: Mapping[str, Any]) -> int:
    """The size of the object as Maestro sends it on: encoded again by Go, which escapes these characters."""
    text = json.dumps(manifest, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    escaped = sum(text.count(character) * (6 - len(character.encode())) for character in "<>&\u2028\u2029")
    return len(text.encode()) + escaped
