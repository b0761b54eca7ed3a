"""How much an author's template may take, and the two ways in which work on a value ends early.

Go lets a template loop for ever and fill the memory. Here every action, turn of a loop and function call is paid
from one budget of steps, long texts cost more than short ones, and what is written is counted as it is written. The
numbers are far above any real template (a 6 KB ManifestWork takes about a hundred steps) and keep the worst one
below a second.

    Failure       a value does not fit; the evaluator turns it into an EvaluationError by adding the place in the source
    └── Overrun   a limit was reached; it becomes a LimitExceeded
"""

MAX_SOURCE = 1024 * 1024
MAX_TOKENS = 20_000
"""Words, operators and texts of one source; four or five to an action."""
MAX_NESTING = 50
"""Blocks and parentheses inside each other in one source."""
MAX_DEPTH = 100
"""The same, added up along templates that call templates; also the depth of a value that is printed. Python's own stack
holds a thousand calls, and a level takes about three."""
MAX_VARIABLES = 200
"""Variables alive at one place."""
MAX_STEPS = 100_000
MAX_TEXT = 4 * 1024 * 1024
"""Characters of the whole output, and of any text made on the way."""
CHARACTERS_PER_STEP = 20
ELEMENTS_PER_STEP = 16


class Failure(Exception):
    """A value that cannot be worked with; `met` is that value, where there is one."""

    def __init__(self, problem: str, *met: object, hint: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.met = met
        self.hint = hint


class Overrun(Failure):
    """The work would take more than a limit allows."""


class Buffer:
    """A text that is being made piece by piece, and refuses to become too long or to be made of too many pieces."""

    __slots__ = ("_parts", "_room", "pieces")

    def __init__(self, pieces: int = MAX_STEPS) -> None:
        self.pieces = pieces
        self._parts: list[str] = []
        self._room = MAX_TEXT

    def write(self, text: str) -> None:
        self._parts.append(text)
        self._room -= len(text)
        self.pieces -= 1
        if self._room < 0:
            raise Overrun(f"the text grows beyond {MAX_TEXT} characters")
        if self.pieces < 0:
            raise Overrun(f"the text is made of more than {MAX_STEPS} pieces")

    def take(self) -> str:
        """The text so far; the room it took stays taken."""
        text = "".join(self._parts)
        self._parts.clear()
        return text
