"""The shape that every language has: compile a source once, evaluate the program many times."""

from typing import Any, Protocol

from shared.languages.clock import Clock


class Program(Protocol):
    """An immutable compiled source. `free_variables` are the names it reads of what it is given."""

    @property
    def source(self) -> str: ...

    @property
    def free_variables(self) -> frozenset[str]: ...

    @property
    def functions(self) -> frozenset[str]: ...

    def evaluate(self, given: Any, /, *, clock: Clock = ...) -> Any:
        """The value. Raises EvaluationError."""
