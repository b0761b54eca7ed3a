"""The limits of an expression.

A step is roughly the work of one node of the expression (about a tenth of a microsecond). Code without loops is
bounded by its own length, so only what repeats is charged: each round of a comprehension by the weight of its body,
each function by the size of the data it walks. Growth counts what an evaluation makes, not what it was given.
"""

from dataclasses import dataclass

# Strings shorter than this are as cheap as the node that made them; counting them would cost more than they do.
UNCOUNTED_TEXT = 32

# Steps for what takes Python code rather than one instruction of a machine: to compare two values, to visit one.
COMPARING = 5
VISITING = 10

# A list slot and what it points to weigh about as much as this many characters.
ELEMENT_WEIGHT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`source` and `depth` are checked when compiling, the others while evaluating."""

    source: int = 100_000
    depth: int = 100
    iterations: int = 100_000
    steps: int = 2_000_000
    growth: int = 16 * 1024 * 1024
