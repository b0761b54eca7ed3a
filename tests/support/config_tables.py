"""The tables of docs/configuration.md, made from the models. `python -m tests.support.config_tables` writes them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, get_args

from pydantic.fields import FieldInfo

from dispatcher.config.models.adapter import AdapterConfig
from dispatcher.config.models.blocks import Block
from dispatcher.config.models.broker import BrokerConfig
from dispatcher.config.models.fields import shown_duration
from dispatcher.config.models.structure import blocks_in
from dispatcher.config.models.task import TaskConfig
from dispatcher.config.overrides import SETTINGS
from dispatcher.config.rules import RULES

PAGE: Final = Path(__file__).parents[2] / "docs" / "configuration.md"
_SECTION = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fields_of(model: type[Block], path: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every key of a file, in order; a list's elements are shown with []."""
    for name, field in model.model_fields.items():
        inner = next(iter(blocks_in(field.annotation)), None)
        key = f"{path}{name}"
        is_list = str(field.annotation).startswith("list")
        yield key, field
        if inner is not None:
            yield from fields_of(inner, f"{key}{'[]' if is_list else ''}.")


def default_of(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    value: Any = field.get_default(call_default_factory=True, validated_data={})
    if value is None or value in ("", [], {}) or isinstance(value, Block):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    durations = [
        part for part in (field, *field.metadata, *get_args(field.annotation)) if "shown_duration" in repr(part)
    ]
    return f"`{shown_duration(value) if durations else value}`"


def adapter_table() -> Iterator[str]:
    yield "| key | default | variable | flag | meaning |"
    yield "|---|---|---|---|---|"
    settings = {".".join(map(str, setting.path)): setting for setting in SETTINGS}
    for key, field in fields_of(AdapterConfig):
        if any(blocks_in(field.annotation)):
            continue
        setting = settings.get(key)
        variables = ", ".join(f"`{name}`" for name in setting.variables) if setting else ""
        flag = f"`--{setting.flag}`" if setting and setting.flag else ""
        yield f"| `{key}` | {default_of(field)} | {variables} | {flag} | {described(field)} |"


def described(field: FieldInfo) -> str:
    return str(field.description).replace("|", "\\|")


def task_table() -> Iterator[str]:
    yield "| key | default | meaning |"
    yield "|---|---|---|"
    shown: set[type[Block]] = set()
    yield from _blocks(TaskConfig, "", shown)


def _blocks(model: type[Block], path: str, shown: set[type[Block]]) -> Iterator[str]:
    """A block that several keys share, as a call, is shown once."""
    for name, field in model.model_fields.items():
        inner = next(iter(blocks_in(field.annotation)), None)
        key = f"{path}{name}"
        again = " (as above)" if inner in shown else ""
        yield f"| `{key}` | {default_of(field)} | {described(field)}{again} |"
        if inner is not None and inner not in shown:
            shown.add(inner)
            is_list = str(field.annotation).startswith("list")
            yield from _blocks(inner, f"{key}{'[]' if is_list else ''}.", shown)


def broker_table() -> Iterator[str]:
    yield "| key | default | variable | meaning |"
    yield "|---|---|---|---|"
    for key, field in fields_of(BrokerConfig):
        if not any(blocks_in(field.annotation)):
            yield f"| `{key}` | {default_of(field)} | `{key.replace('.', '_').upper()}` | {described(field)} |"


def rules_table() -> Iterator[str]:
    yield "| rule | meaning |"
    yield "|---|---|"
    for rule, meaning in RULES.items():
        yield f"| `{rule}` | {meaning} |"


TABLES: Final = {"adapter": adapter_table, "task": task_table, "broker": broker_table, "rules": rules_table}


def with_tables(page: str) -> str:
    return _SECTION.sub(lambda found: found[1] + "\n".join(TABLES[found[2]]()) + "\n" + found[3], page)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
