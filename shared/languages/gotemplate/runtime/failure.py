"""What stops work on a value, before it becomes an error for the author.

Failure           a value does not fit; the compiler turns it into an EvaluationError by adding the place in the source
└── LimitReached  it becomes a LimitExceeded
"""


class Failure(Exception):
    """A value that cannot be worked with; `met` is that value, where there is one."""

    def __init__(self, problem: str, *met: object, hint: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.met = met
        self.hint = hint


class LimitReached(Failure):
    """The work would take more than a limit allows."""
