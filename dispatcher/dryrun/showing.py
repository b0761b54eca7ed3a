"""What a trace may show of a value: no secret, neither one the run has read nor one that its name gives away."""

import json
from collections.abc import Collection
from typing import Any

from dispatcher.engine.redaction import redact_secrets
from shared.languages.gotemplate.functions.quoting import quote
from shared.redaction import redact


class Shown:
    """Values as text, without `secrets`."""

    def __init__(self, secrets: Collection[str]) -> None:
        self._secrets = secrets

    def value(self, value: Any, *, key: str = "") -> Any:
        return redact(redact_secrets(value, self._secrets), key=key)

    def text(self, text: str) -> str:
        return str(self.value(text))

    def inline(self, value: Any, *, key: str = "") -> str:
        """Texts quoted as Go does, everything else as compact JSON."""
        shown = self.value(value, key=key)
        return quote(shown) if isinstance(shown, str) else compact(shown)

    def body(self, body: bytes | str) -> Any:
        """The JSON of a body, or its text."""
        try:
            return self.value(json.loads(body))
        except ValueError:
            return self.text(body.decode(errors="replace") if isinstance(body, bytes) else body)

    def block(self, value: Any, indent: str) -> str:
        """Indented JSON, each line but the first behind `indent`."""
        shown = self.value(value)
        text = shown if isinstance(shown, str) else json.dumps(shown, indent=2, sort_keys=True, ensure_ascii=False)
        return text.replace("\n", f"\n{indent}")


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
