"""Which variables an author may use where: each phase adds its own.

CEL and templates see the same params and captures; `resources` is CEL's alone, and payloads are seen by templates, and
by the `when` of a post action.
"""

from dataclasses import dataclass
from typing import Final

CEL_BUILTINS: Final = frozenset({"adapter", "config", "env", "event", "resources"})
TEMPLATE_BUILTINS: Final = frozenset({"adapter", "config", "env", "event"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """`variables` are params, captures and the answers of preconditions so far."""

    variables: frozenset[str] = frozenset()
    payloads: frozenset[str] = frozenset()

    def with_variables(self, *names: str) -> "Scope":
        return Scope(variables=self.variables | set(names), payloads=self.payloads)

    def with_payload(self, name: str) -> "Scope":
        return Scope(variables=self.variables, payloads=self.payloads | {name})

    @property
    def cel(self) -> frozenset[str]:
        return self.variables | CEL_BUILTINS

    @property
    def cel_with_payloads(self) -> frozenset[str]:
        return self.cel | self.payloads

    @property
    def template(self) -> frozenset[str]:
        return self.variables | self.payloads | TEMPLATE_BUILTINS
