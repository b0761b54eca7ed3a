"""The API's OpenAPI document, which clients may fetch and the real server is built from."""

import functools
from pathlib import Path
from typing import Any

import yaml

OPENAPI_FILE = Path(__file__).parents[1] / "openapi.yaml"


@functools.cache
def openapi_document() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(OPENAPI_FILE.read_text())
    return document
