"""The config file: named connections, and which of them is used. It holds paths of secrets, never secrets."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import yaml

from maestro_cli.connection.options import BY_ATTRIBUTE
from maestro_cli.exits import UsageError
from shared.files import write_atomically

_KEYS = sorted(each for each, option in BY_ATTRIBUTE.items() if option.in_contexts)


def default_path(environment: Mapping[str, str]) -> Path:
    if environment.get("MAESTRO_CONFIG"):
        return Path(environment["MAESTRO_CONFIG"])
    home = Path(environment.get("XDG_CONFIG_HOME") or Path(environment.get("HOME") or "~").expanduser() / ".config")
    return home / "maestro-cli" / "config.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile:
    path: Path
    current: str = ""
    contexts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The file's content, empty where there is no file. Raises UsageError."""
        try:
            loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return cls(path=path)
        except OSError as error:
            raise UsageError(f"the config file {path} cannot be read", why=os.strerror(error.errno or 0)) from error
        except UnicodeDecodeError as error:
            raise UsageError(f"the config file {path} is not text in UTF-8") from error
        except yaml.MarkedYAMLError as error:
            place = f":{error.problem_mark.line + 1}:{error.problem_mark.column + 1}" if error.problem_mark else ""
            raise UsageError(f"the config file {path}{place} is not valid YAML", why=error.problem or "") from error
        except yaml.YAMLError as error:
            raise UsageError(f"the config file {path} is not valid YAML") from error
        document = loaded if isinstance(loaded, dict) else {}
        contexts = document.get("contexts")
        return cls(
            path=path,
            current=str(document.get("current_context") or ""),
            contexts={
                str(name): _checked(path, str(name), each)
                for name, each in (contexts if isinstance(contexts, dict) else {}).items()
            },
        )

    def context(self, name: str) -> Mapping[str, str]:
        """The values of a context; those of the current one where `name` is empty."""
        chosen = name or self.current
        if not chosen:
            return {}
        if chosen not in self.contexts:
            known = ", ".join(sorted(self.contexts)) or "none"
            raise UsageError(f"there is no context {chosen!r} in {self.path}", remedy=f"known are: {known}")
        return self.contexts[chosen]

    def with_context(self, name: str, values: Mapping[str, str]) -> Self:
        merged = {**self.contexts.get(name, {}), **values}
        return replace(self, contexts={**self.contexts, name: merged}, current=self.current or name)

    def using(self, name: str) -> Self:
        self.context(name)
        return replace(self, current=name)

    def write(self) -> None:
        document: dict[str, Any] = {
            "current_context": self.current,
            "contexts": {name: dict(each) for name, each in sorted(self.contexts.items())},
        }
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, yaml.safe_dump(document, sort_keys=False).encode(), mode=0o600)
        except OSError as error:
            raise UsageError(
                f"the config file {self.path} cannot be written", why=os.strerror(error.errno or 0)
            ) from error


def _checked(path: Path, name: str, values: Any) -> dict[str, str]:
    if not isinstance(values, dict):
        raise UsageError(f"context {name!r} in {path} is no map of settings")
    unknown = sorted(str(key) for key in values if key not in _KEYS)
    if unknown:
        raise UsageError(
            f"context {name!r} in {path} has the unknown key {unknown[0]!r}", remedy=f"known: {', '.join(_KEYS)}"
        )
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in values.items()
        if value is not None
    }
