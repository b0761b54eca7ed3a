"""Definitions as the projects of HyperShift, DPF and MetalLB publish them, where `../shared/crds` is beside this checkout.

They are no part of this project. Where they are absent, the pinned module of HyperShift and the minimal definitions of
`lab.dpf` take their place.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[3] / "shared" / "crds"

Definition = dict[str, Any]


def published(name: str) -> Definition | None:
    path = FOLDER / f"{name}.yaml"
    if not path.is_file():
        return None
    with path.open("rb") as file:
        definition: Definition = yaml.load(file, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return definition


def preferred(own: Iterable[Definition]) -> list[Definition]:
    """The published definition of each, or our own where there is none."""
    return [published(each["metadata"]["name"]) or each for each in own]


def origin(own: Iterable[Definition]) -> str:
    """Which definitions a run uses, for its summary."""
    names = [str(each["metadata"]["name"]) for each in own]
    absent = [each for each in names if published(each) is None]
    if not absent:
        return f"all {len(names)} definitions are the published ones of ../shared/crds"
    return f"not published in ../shared/crds, so that our own are used: {', '.join(absent)}"
