"""The syntax tree of a template. Every node knows which part of the source it came from.

Body ─ Text · Output · If · With · Range · Invoke · Break · Continue Pipeline ─ Command ─ operands: Literal · Nil ·
Dot · Variable · Fields · Function · Pipeline
"""

from dataclasses import dataclass

from shared.languages.gotemplate.runtime.values import Int


@dataclass(frozen=True, slots=True)
class Node:
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Literal(Node):
    value: str | bool | Int | float | complex


@dataclass(frozen=True, slots=True)
class Nil(Node):
    pass


@dataclass(frozen=True, slots=True)
class Dot(Node):
    """`.`, the value a block works on."""


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """`$name`; `$` alone is what the template was called with. `slot` is its place among the living variables."""

    name: str
    slot: int


@dataclass(frozen=True, slots=True)
class Function(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Field(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Fields(Node):
    """`.a.b`, `$x.a.b` or `(…).a.b`."""

    base: "Dot | Variable | Function | Pipeline"
    chain: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Command(Node):
    """A function with its arguments, or one operand alone."""

    operands: "tuple[Operand, ...]"

    @property
    def function(self) -> str | None:
        first = self.operands[0]
        return first.name if isinstance(first, Function) else None


@dataclass(frozen=True, slots=True)
class Pipeline(Node):
    """Commands joined by `|`; the result is also put into the targets."""

    targets: tuple[Variable, ...]
    commands: tuple[Command, ...]


Operand = Literal | Nil | Dot | Variable | Function | Fields | Pipeline


@dataclass(frozen=True, slots=True)
class Body(Node):
    steps: "tuple[Step, ...]"


@dataclass(frozen=True, slots=True)
class Text(Node):
    text: str


@dataclass(frozen=True, slots=True)
class Output(Node):
    pipeline: Pipeline


@dataclass(frozen=True, slots=True)
class Branch(Node):
    condition: Pipeline
    body: Body


@dataclass(frozen=True, slots=True)
class If(Node):
    branches: tuple[Branch, ...]
    otherwise: Body | None


@dataclass(frozen=True, slots=True)
class With(Node):
    branches: tuple[Branch, ...]
    otherwise: Body | None


@dataclass(frozen=True, slots=True)
class Range(Node):
    pipeline: Pipeline
    body: Body
    otherwise: Body | None


@dataclass(frozen=True, slots=True)
class Invoke(Node):
    """`{{ template "name" argument }}`; a block is a definition and its call."""

    name: str
    argument: Pipeline | None


@dataclass(frozen=True, slots=True)
class Break(Node):
    pass


@dataclass(frozen=True, slots=True)
class Continue(Node):
    pass


Step = Text | Output | If | With | Range | Invoke | Break | Continue


@dataclass(frozen=True, slots=True)
class Definition:
    """A named template; `slots` is how many variables, with `$`, can be alive at once."""

    body: Body
    slots: int

    @property
    def empty(self) -> bool:
        return all(isinstance(step, Text) and not step.text.strip() for step in self.body.steps)


MAIN = "template"
"""The name under which the source itself is known, as in the Go framework."""


@dataclass(frozen=True, slots=True)
class Tree:
    source: str
    definitions: dict[str, Definition]
    functions: frozenset[str]

    @property
    def main(self) -> Definition:
        return self.definitions[MAIN]
