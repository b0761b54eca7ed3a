"""What the interface asks, a line of text or whether something shall really be done, and what it shows on top."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static


class Confirm(ModalScreen[bool]):
    """Yes by `y` or Enter, no by anything else that closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("y,enter", "answer(True)", "yes"),
        ("n,escape,q", "answer(False)", "no"),
    ]
    DEFAULT_CSS = """
    Confirm { align: center middle; }
    Confirm > Vertical { width: 90%; height: auto; border: thick $accent; padding: 1 2; background: $surface; }
    Confirm VerticalScroll { height: auto; max-height: 20; }
    """

    def __init__(self, question: str, details: str = "") -> None:
        super().__init__()
        self._question, self._details = question, details

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._question, markup=False)
            if self._details:
                with VerticalScroll():
                    yield Static(self._details, markup=False)
            yield Static("y: yes   n: no", markup=False)

    def action_answer(self, answer: bool) -> None:  # noqa: FBT001 - textual passes a binding's argument by position
        self.dismiss(answer)


class Show(ModalScreen[None]):
    """A text to read, until a key closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [("enter,escape,q", "leave", "close")]
    DEFAULT_CSS = """
    Show { align: center middle; }
    Show > Vertical { width: 90%; height: auto; border: thick $accent; padding: 1 2; background: $surface; }
    Show VerticalScroll { height: auto; max-height: 20; }
    """

    def __init__(self, heading: str, text: str) -> None:
        super().__init__()
        self._heading, self.text = heading, text

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._heading, markup=False)
            with VerticalScroll():
                yield Static(self.text, markup=False)
            yield Static("Enter: close", markup=False)

    def action_leave(self) -> None:
        self.dismiss(None)


class Ask(ModalScreen[str]):
    """A line of text; empty where it was left by Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "leave", "cancel")]
    DEFAULT_CSS = """
    Ask { align: center middle; }
    Ask > Vertical { width: 80%; height: auto; border: thick $accent; padding: 1 2; background: $surface; }
    """

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._question, markup=False)
            yield Input()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())

    def action_leave(self) -> None:
        self.dismiss("")
