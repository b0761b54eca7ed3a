"""Go's printf: a format string, its flags, argument indexes and widths, and its complaints about wrong ones.

Complaints are part of the text, as in Go: `%!d(MISSING)`, `%!(EXTRA int=1)`, `%!(BADINDEX)`, `%!(NOVERB)`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from shared.languages.gotemplate.functions.formatting import write_argument
from shared.languages.gotemplate.functions.numerals import PLAIN, Flags
from shared.languages.gotemplate.runtime.evaluation import Buffer
from shared.languages.gotemplate.runtime.values import type_name

_FLAGS = re.compile(r"[#0+\- ]*")
_DIGITS = re.compile(r"[0-9]*")
_LARGEST = 1_000_000
_LONGEST = 8
_FEWEST_INDEX = 3
_PIECES_PER_VERB = 10
"""What reading a verb costs beside what it writes."""


def write_formatted(buffer: Buffer, template: str, *arguments: object) -> None:
    _Printf(buffer, template, arguments).write()


@dataclass(slots=True)
class _Printf:
    buffer: Buffer
    format: str
    arguments: Sequence[object]
    position: int = 0
    argument: int = 0
    reordered: bool = False
    good_index: bool = True
    last_bracket: int = -1

    def write(self) -> None:
        self.last_bracket = self.format.rfind("]")
        while (percent := self.format.find("%", self.position)) >= 0:
            self.buffer.write(self.format[self.position : percent])
            self.position = percent + 1
            self.good_index = True
            self.buffer.pieces -= _PIECES_PER_VERB
            self._verb()
        self.buffer.write(self.format[self.position :])
        if not self.reordered and self.argument < len(self.arguments):
            self._complain_of_extra()

    def _verb(self) -> None:
        marks = self._match(_FLAGS)
        indexed = self._index()
        width, indexed = self._width(indexed=indexed)
        precision = None
        if self.format.startswith(".", self.position) and self.position + 1 < len(self.format):
            precision, indexed = self._precision(indexed=indexed)
        if not indexed:
            self._index()
        if self.position >= len(self.format):
            self.buffer.write("%!(NOVERB)")
            return
        verb = self.format[self.position]
        self.position += 1
        if verb == "%":
            self.buffer.write("%")
        elif not self.good_index:
            self.buffer.write(f"%!{verb}(BADINDEX)")
        elif self.argument >= len(self.arguments):
            self.buffer.write(f"%!{verb}(MISSING)")
        else:
            write_argument(self.buffer, self.arguments[self.argument], verb, _flags(verb, marks, width, precision))
            self.argument += 1

    def _width(self, *, indexed: bool) -> tuple[int | None, bool]:
        if self.format.startswith("*", self.position):
            self.position += 1
            width = self._from_argument()
            if width is None:
                self.buffer.write("%!(BADWIDTH)")
            return width, False
        width = self._number()
        if indexed and width is not None:
            self.good_index = False
        return width, indexed

    def _precision(self, *, indexed: bool) -> tuple[int | None, bool]:
        self.position += 1
        if indexed:
            self.good_index = False
        indexed = self._index()
        if self.format.startswith("*", self.position):
            self.position += 1
            precision = self._from_argument()
            if precision is None or precision < 0:
                self.buffer.write("%!(BADPREC)")
                precision = None
            return precision, False
        return self._number() or 0, indexed

    def _match(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.format, self.position)
        assert match is not None
        self.position = match.end()
        return match.group()

    def _number(self) -> int | None:
        """A number in the format; one beyond Go's bound ends the format."""
        digits = self._match(_DIGITS)
        if not digits:
            return None
        value = _small(digits)
        if value is None:
            self.position = len(self.format)
        return value

    def _from_argument(self) -> int | None:
        """The number that `*` takes from the arguments."""
        if self.argument >= len(self.arguments):
            return None
        value = self.arguments[self.argument]
        self.argument += 1
        if isinstance(value, bool) or not isinstance(value, int) or not -_LARGEST <= value <= _LARGEST:
            return None
        return value

    def _index(self) -> bool:
        """An explicit argument index like [2]; whether there was a well-formed one."""
        if not self.format.startswith("[", self.position):
            return False
        self.reordered = True
        start = self.position + 1
        if self.last_bracket < start or len(self.format) - self.position < _FEWEST_INDEX:
            self.good_index = False
            self.position = start
            return False
        closing = self.format.index("]", start)
        self.position = closing + 1
        number = _small(self.format[start:closing])
        if number is not None and 0 < number <= len(self.arguments):
            self.argument = number - 1
        else:
            self.good_index = False
        return number is not None

    def _complain_of_extra(self) -> None:
        self.buffer.write("%!(EXTRA ")
        for i, value in enumerate(self.arguments[self.argument :]):
            self.buffer.write(", " if i else "")
            if value is not None:
                self.buffer.write(f"{type_name(value)}=")
            write_argument(self.buffer, value, "v", PLAIN)
        self.buffer.write(")")


def _small(digits: str) -> int | None:
    """The number, unless it is none or beyond Go's bound, which is checked before the last digit."""
    if not (digits.isascii() and digits.isdigit()):
        return None
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= _LONGEST and int(digits[:-1] or "0") <= _LARGEST else None


def _flags(verb: str, marks: str, width: int | None, precision: int | None) -> Flags:
    general = verb in "vw"
    minus = "-" in marks
    if width is not None and width < 0:
        minus, width = True, -width
    return Flags(
        minus=minus,
        plus="+" in marks and not general,
        sharp="#" in marks and not general,
        space=" " in marks,
        zero="0" in marks and not minus,
        width=width,
        precision=precision,
        go_syntax="#" in marks and general,
    )
