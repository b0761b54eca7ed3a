"""The lab's minimal definitions of DPF and MetalLB say of each of their fields what the published ones say."""

from collections.abc import Iterator
from typing import Any

import pytest

from lab.dpf import definitions
from tests.support.published_crds import published

Schema = dict[str, Any]
COMPARED = ("type", "enum", "pattern", "x-kubernetes-validations")


def schema_of(definition: Schema) -> Schema:
    [version] = definition["spec"]["versions"]
    schema: Schema = version["schema"]["openAPIV3Schema"]
    return schema


def differing(own: Schema, theirs: Schema | None, path: str = "") -> Iterator[str]:
    """Where a document is judged otherwise by our definition than by theirs; fields that only they have aside."""
    if theirs is None:
        yield f"{path} is no field"
        return
    if own.get("x-kubernetes-preserve-unknown-fields"):
        return
    if path and set(own.get("required", ())) != set(theirs.get("required", ())):
        yield f"{path}: required are {theirs.get('required')}"
    for key in COMPARED:
        if key in own and rules(own[key]) != rules(theirs.get(key)):
            yield f"{path}: {key} is {theirs.get(key)}"
    for name, inner in own.get("properties", {}).items():
        yield from differing(inner, theirs.get("properties", {}).get(name), f"{path}.{name}")
    if "items" in own:
        yield from differing(own["items"], theirs.get("items"), f"{path}[]")


def rules(value: Any) -> Any:
    """Of validation rules, what they demand; their messages may differ."""
    return [each["rule"] if isinstance(each, dict) else each for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("own", definitions.ALL, ids=lambda each: each["spec"]["names"]["kind"])
def test_what_our_definition_says_the_published_one_says_too(own: Schema) -> None:
    theirs = published(own["metadata"]["name"])
    if theirs is None:
        pytest.skip(
            "../shared/crds is not beside this checkout: end-to-end tests use the minimal definitions of lab/dpf"
        )
    assert own["spec"]["versions"][0]["name"] == theirs["spec"]["versions"][0]["name"]
    assert own["spec"]["scope"] == theirs["spec"]["scope"]
    assert list(differing(schema_of(own), schema_of(theirs))) == []
