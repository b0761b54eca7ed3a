"""Label selectors with Kubernetes' meaning, and the part of them that Maestro's search can be trusted with.

In Maestro's SQL, `!=` and `notin` leave out works that lack the label, and `!key` does not exist. So only what means
the same on both sides is searched for there, and everything is decided here.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from shared.errors import Invalid, Problem

_LABELS = "payload->'metadata'->'labels'"
_KEY = r"(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?"
_REQUIREMENT = re.compile(
    rf"\s*(?:!\s*(?P<absent>{_KEY})"
    rf"|(?P<set_key>{_KEY})\s+(?P<set>in|notin)\s*\((?P<values>[^()]*)\)"
    rf"|(?P<key>{_KEY})\s*(?P<operator>==|=|!=)\s*(?P<value>{_VALUE})"
    rf"|(?P<present>{_KEY}))\s*(?P<more>,|\Z)"
)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One term: `key in values` or its negation; without values, that the key is there at all."""

    key: str
    values: frozenset[str] | None
    negated: bool = False

    def matches(self, labels: Mapping[str, str]) -> bool:
        if self.values is None:
            return (self.key in labels) is not self.negated
        return (self.key in labels and labels[self.key] in self.values) is not self.negated


@dataclass(frozen=True, slots=True)
class Selector:
    """All requirements must hold; without any, everything is selected."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        return all(requirement.matches(labels) for requirement in self.requirements)

    def search_terms(self) -> list[str]:
        """Terms of a Maestro search that leave out nothing that matches."""
        terms = []
        for each in self.requirements:
            if each.negated or not each.values:
                continue
            if len(each.values) == 1:
                terms.append(f"{_LABELS}@>'{json.dumps({each.key: min(each.values)})}'")
            else:
                listed = ",".join(f"'{value}'" for value in sorted(each.values))
                terms.append(f"{_LABELS}->>'{each.key}'in({listed})")
        return terms

    @classmethod
    def of(cls, selector: "str | Mapping[str, str] | Selector | None") -> "Selector":
        match selector:
            case None:
                return cls()
            case Selector():
                return selector
            case str():
                return cls.parse(selector)
            case _:
                return cls(tuple(_equality(key, value) for key, value in selector.items()))

    @classmethod
    def parse(cls, text: str) -> Self:
        """A selector such as `app=web,tier in (a, b),!canary`."""
        requirements = []
        position, more = 0, bool(text.strip())
        while more:
            match = _REQUIREMENT.match(text, position)
            if match is None:
                raise _invalid(text, f"cannot be read from {text[position:]!r:.60}")
            requirements.append(_requirement(match))
            position, more = match.end(), bool(match["more"])
        return cls(tuple(requirements))


def _requirement(match: re.Match[str]) -> Requirement:
    if match["absent"]:
        return Requirement(match["absent"], None, negated=True)
    if match["present"]:
        return Requirement(match["present"], None)
    if match["set_key"]:
        values = frozenset(value.strip() for value in match["values"].split(","))
        if not all(re.fullmatch(_VALUE, value) for value in values):
            raise _invalid(match.string, f"({match['values']}) is no list of label values")
        return Requirement(match["set_key"], values, negated=match["set"] == "notin")
    return Requirement(match["key"], frozenset([match["value"]]), negated=match["operator"] == "!=")


def _equality(key: str, value: str) -> Requirement:
    if not re.fullmatch(_KEY, key) or not re.fullmatch(_VALUE, value):
        raise _invalid(f"{key}={value}", "is no label")
    return Requirement(key, frozenset([value]))


def _invalid(text: str, why: str) -> Invalid:
    return Invalid(f"label selector {text!r:.120} is not valid", [Problem("", why)])
