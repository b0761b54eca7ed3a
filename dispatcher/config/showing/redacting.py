"""The merged configuration as its YAML has it, and without its secrets as anybody may see it."""

from collections.abc import Mapping
from typing import Any, Final

from dispatcher.config.models.adapter import AdapterConfig
from dispatcher.config.models.task import TaskConfig
from shared.redaction import REDACTED as CONCEALED
from shared.redaction import redact

REDACTED: Final = "**REDACTED**"
_SECRET_DATA: Final = "data of a secret"  # noqa: S105 - the name of a place, not a secret
# The Go framework conceals the paths of these files.
_TLS_FILES: Final = ("ca_file", "cert_file", "key_file", "http_ca_file")


def merged(config: AdapterConfig, task: TaskConfig) -> dict[str, Any]:
    """Both files as one mapping, with their own keys; what was neither written nor has a default is left out."""
    settings = config.model_dump(mode="python", exclude_none=True)
    steps = task.model_dump(mode="python", exclude_unset=True, exclude_none=True)
    return {**_filled(settings), **steps}


def _filled(value: Any) -> Any:
    """Without empty texts, lists and mappings and without zeros, which say nothing."""
    if not isinstance(value, dict):
        return value
    inner = {key: _filled(each) for key, each in value.items()}
    return {key: each for key, each in inner.items() if each or each is False}


def redacted(config: Mapping[str, Any]) -> dict[str, Any]:
    """The same mapping with `**REDACTED**` in place of every secret."""
    shown: dict[str, Any] = _shown(config, "")
    tls = shown.get("clients", {}).get("maestro", {}).get("auth", {}).get("tls_config", {})
    tls.update({name: REDACTED for name in _TLS_FILES if tls.get(name)})
    return shown


def _shown(value: Any, key: str) -> Any:
    match value:
        case dict():
            return {name: _shown(each, _telling(name, value, key)) for name, each in value.items()}
        case list():
            return [_shown(each, key) for each in value]
        case str() | int() | float():
            shown = redact(value, key=key)
            return shown.replace(CONCEALED, REDACTED) if isinstance(shown, str) else shown
    return value


def _telling(name: str, owner: dict[str, Any], key: str) -> str:
    """The key that says whether a member is secret: a header's name for its value, `Secret` for a Secret's data."""
    if key == _SECRET_DATA:
        return key
    if name in {"value", "default"} and isinstance(owner.get("name"), str):
        return str(owner["name"])
    return _SECRET_DATA if name in {"data", "stringData"} and owner.get("kind") == "Secret" else name


def is_secret(name: str, value: str) -> bool:
    """Whether a value must not be printed, judged by its name and by its look."""
    return bool(redact(value, key=name) != value)
