"""The API server's texts for an invalid field."""

from typing import Any

from lab.kubernetes.api.refusals import Cause


def invalid(field: str, value: Any, why: str) -> Cause:
    shown = f"{_go(value)}: " if value is not None else ""
    return Cause("FieldValueInvalid", f"Invalid value: {shown}{why}", field)


def required(field: str, why: str = "") -> Cause:
    return Cause("FieldValueRequired", f"Required value: {why}" if why else "Required value", field)


def unsupported(field: str, value: str, supported: tuple[str, ...]) -> Cause:
    listed = ", ".join(f'"{each}"' for each in supported)
    return Cause("FieldValueNotSupported", f'Unsupported value: "{value}": supported values: {listed}', field)


def _go(value: Any) -> str:
    """A value as Go prints it in a field error."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
