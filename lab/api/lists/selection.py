"""One page of a list: the resources that match, sorted, as the request's parameters say."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lab.api.lists import fields
from lab.api.lists.search import matcher
from lab.api.lists.terms import Matcher, Operand, column
from lab.api.problems import BAD_REQUEST, Problem, invalid
from lab.api.rules.values import Resource

DEFAULT_SIZE = 20
_LIMITS = {"page": (1, 100_000), "size": (1, 100)}
_NEWEST_FIRST = "created_time desc"


class Parameters(Protocol):
    """A query string, where a name may come several times."""

    def get(self, key: str, default: str) -> str: ...
    def getall(self, key: str, default: list[str]) -> list[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    page: int
    size: int
    search: Matcher | None
    order: tuple[tuple[Operand, bool], ...]
    fields: tuple[str, ...]

    def of(self, resources: Iterable[Resource]) -> tuple[list[Resource], int]:
        """The page, and how many match in all."""
        found = [each for each in resources if self.search is None or self.search(each)]
        for key, descending in reversed(self.order):
            found.sort(key=lambda each: _sortable(key.read(each)), reverse=descending)
        return self.cut(found), len(found)

    def cut(self, found: Sequence[Any]) -> list[Any]:
        first = (self.page - 1) * self.size
        return list(found[first : first + self.size])


def selection(parameters: Parameters) -> Selection:
    """What the parameters ask for. Raises Problem for what the API refuses."""
    numbers = _numbers({"page": parameters.get("page", "") or "1", "size": parameters.get("size", "")})
    search = parameters.get("search", "").strip()
    return Selection(
        page=numbers["page"],
        size=numbers["size"],
        search=matcher(search) if search else None,
        order=_order(parameters.getall("order", [])),
        fields=fields.chosen(parameters.getall("fields", [])),
    )


def _numbers(texts: Mapping[str, str]) -> dict[str, int]:
    numbers, errors = dict[str, int](), list[dict[str, Any]]()
    for name, text in texts.items():
        least, most = _LIMITS[name]
        try:
            number = int(text.strip() or DEFAULT_SIZE)
        except ValueError:
            errors.append({"field": name, "message": "must be a valid integer", "constraint": "format", "value": text})
            continue
        numbers[name] = number
        if number < least:
            message = f"{name} must be at least {least}"
            errors.append({"field": name, "message": message, "constraint": "min", "value": number})
        elif number > most:
            message = f"{name} must be at most {most}"
            errors.append({"field": name, "message": message, "constraint": "max", "value": number})
    if errors:
        raise invalid("Invalid query parameters", errors)
    return numbers


def _order(values: list[str]) -> tuple[tuple[Operand, bool], ...]:
    wanted = [each.strip() for value in values for each in value.split(",") if each.strip()] or [_NEWEST_FIRST]
    return tuple(_sorting(each) for each in wanted)


def _sorting(text: str) -> tuple[Operand, bool]:
    name, _, direction = text.partition(" ")
    if direction not in {"", "asc", "desc"}:
        raise Problem(BAD_REQUEST, f"bad order value '{text}'")
    try:
        return column(name), direction == "desc"
    except Problem:
        raise Problem(BAD_REQUEST, f"bad order value '{text}'") from None


def _sortable(value: Any) -> tuple[bool, Any]:
    """Missing values last when ascending, as the database sorts them."""
    return (value is None, value if value is not None else "")
