"""How Go writes a number under a printf verb with its flags: bases, exponents, signs, zeros and padding."""

import math
import struct
from dataclasses import dataclass, replace

from shared.languages.gotemplate.functions.printing import is_printed
from shared.languages.gotemplate.functions.quoting import is_surrogate, quote
from shared.languages.gotemplate.runtime.failure import Failure

_BASES = {"v": "d", "d": "d", "b": "b", "o": "o", "O": "o", "x": "x", "X": "X"}
_MAX_RUNE = 0x10FFFF
_REPLACEMENT = "\ufffd"
_SMALLEST_EXPONENT = -4
_USUAL_PRECISION = 6
_FRACTION_BITS = 52
_EXPONENT_BIAS = 1075
_HEX_DIGITS = 13


@dataclass(frozen=True, slots=True)
class Flags:
    """What stands between the % and the verb; `go_syntax` is `%#v`."""

    minus: bool = False
    plus: bool = False
    sharp: bool = False
    space: bool = False
    zero: bool = False
    width: int | None = None
    precision: int | None = None
    go_syntax: bool = False


PLAIN = Flags()


def pad(text: str, flags: Flags, *, zeros: bool = True) -> str:
    if not flags.width:
        return text
    if flags.minus:
        return text.ljust(flags.width)
    return text.rjust(flags.width, "0" if zeros and flags.zero else " ")


def integer(value: int, verb: str, flags: Flags, *, unsigned: bool = False) -> str | None:
    """None for a verb that integers do not have."""
    if verb in _BASES:
        if unsigned and verb == "v" and flags.go_syntax:
            return _based(value, "x", replace(flags, sharp=True))
        return _based(value, verb, flags)
    match verb:
        case "c":
            return pad(_rune(value), flags)
        case "q":
            return pad(quote(_rune(value), "'", ascii_only=flags.plus), flags)
        case "U":
            return _unicode(value, flags)
    return None


def _based(value: int, verb: str, flags: Flags) -> str:
    if flags.precision == 0 and value == 0:
        return " " * (flags.width or 0)
    sign = "-" if value < 0 else "+" if flags.plus else " " if flags.space else ""
    digits = _digits(abs(value), _BASES[verb])
    if flags.precision is not None:
        digits = digits.rjust(flags.precision, "0")
    elif flags.zero and not flags.minus and flags.width:
        digits = digits.rjust(flags.width - len(sign), "0")
    return pad(sign + _prefix(verb, digits, flags) + digits, flags, zeros=False)


def _digits(value: int, base: str) -> str:
    try:
        return format(value, base)
    except ValueError:
        raise Failure("the integer has too many digits to be printed") from None


def _prefix(verb: str, digits: str, flags: Flags) -> str:
    if verb == "O":
        return "0o0" if flags.sharp and not digits.startswith("0") else "0o"
    if not flags.sharp:
        return ""
    if verb == "o":
        return "" if digits.startswith("0") else "0"
    return {"b": "0b", "x": "0x", "X": "0X"}.get(verb, "")


def _rune(value: int) -> str:
    return chr(value) if 0 <= value <= _MAX_RUNE and not is_surrogate(value) else _REPLACEMENT


def _unicode(value: int, flags: Flags) -> str:
    code = value if value >= 0 else value + 2**64
    text = "U+" + format(code, "X").rjust(max(4, flags.precision or 0), "0")
    if flags.sharp and code <= _MAX_RUNE and not is_surrogate(code) and is_printed(chr(code)):
        text += f" '{chr(code)}'"
    return pad(text, flags, zeros=False)


def floating(value: float, verb: str, flags: Flags) -> str | None:
    """None for a verb that floats do not have."""
    if verb not in "vbgGxXfFeE":
        return None
    verb = {"v": "g", "F": "f"}.get(verb, verb)
    precision = _USUAL_PRECISION if flags.precision is None and verb in "feE" else flags.precision
    negative = math.copysign(1.0, value) < 0 and not math.isnan(value)
    sign = "-" if negative else "+" if flags.plus else " " if flags.space else ""
    if math.isnan(value):
        return pad(sign + "NaN", flags, zeros=False)
    if math.isinf(value):
        return pad((sign or "+") + "Inf", flags, zeros=False)
    text = _unsigned(abs(value), verb, precision)
    if flags.sharp and verb != "b":
        text = _with_point(text, verb, precision)
    if flags.zero and not flags.minus and flags.width:
        return sign + text.rjust(flags.width - len(sign), "0")
    return pad(sign + text, flags)


def complex_number(value: complex, verb: str, flags: Flags) -> str | None:
    real = floating(value.real, verb, flags)
    imaginary = floating(value.imag, verb, replace(flags, plus=True))
    return None if real is None or imaginary is None else f"({real}{imaginary}i)"


def _unsigned(value: float, verb: str, precision: int | None) -> str:
    match verb:
        case "b":
            return _binary(value)
        case "x" | "X":
            text = _hexadecimal(value, precision)
        case "g" | "G" if precision is None:
            text = _shortest(value)
        case _:
            return format(value, f".{precision}{verb}")
    return text.upper() if verb.isupper() else text


def _shortest(value: float) -> str:
    """The fewest digits that mean this number, with an exponent outside of 1e-4 … 1e5."""
    digits, exponent = _decimal(value)
    if exponent < _SMALLEST_EXPONENT or exponent >= _USUAL_PRECISION:
        point = "." if len(digits) > 1 else ""
        return f"{digits[0]}{point}{digits[1:]}e{exponent:+03d}"
    if exponent < 0:
        return f"0.{'0' * (-exponent - 1)}{digits}"
    whole, fraction = digits[: exponent + 1].ljust(exponent + 1, "0"), digits[exponent + 1 :]
    return f"{whole}.{fraction}" if fraction else whole


def _decimal(value: float) -> tuple[str, int]:
    """The digits of the shortest form, without zeros at either end, and the decimal exponent of the first."""
    mantissa, _, exponent = float.__repr__(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    first = int(exponent or 0) + len(whole) - 1 - (len(whole + fraction) - len(digits))
    return (digits.rstrip("0"), first) if digits else ("0", 0)


def _binary(value: float) -> str:
    """%b: the mantissa as the machine holds it, and its power of two."""
    bits = int.from_bytes(struct.pack(">d", value), "big")
    exponent, mantissa = bits >> _FRACTION_BITS, bits & ((1 << _FRACTION_BITS) - 1)
    mantissa |= (1 << _FRACTION_BITS) if exponent else 0
    return f"{mantissa}p{max(exponent, 1) - _EXPONENT_BIAS:+d}"


def _hexadecimal(value: float, precision: int | None) -> str:
    """%x: one hexadecimal digit, the fraction, and the power of two."""
    fraction, exponent = math.frexp(value)
    mantissa, exponent = int(fraction * 2 ** (_FRACTION_BITS + 1)), exponent - 1 if value else 0
    digits = _HEX_DIGITS if precision is None else min(precision, _HEX_DIGITS)
    mantissa, exponent = _rounded(mantissa, exponent, digits)
    text = format(mantissa, f"0{digits + 1}x")
    tail = text[1:].rstrip("0") if precision is None else text[1:].ljust(precision, "0")
    return f"0x{text[0]}{'.' if tail else ''}{tail}p{exponent:+03d}"


def _rounded(mantissa: int, exponent: int, digits: int) -> tuple[int, int]:
    """Cut to so many hexadecimal digits behind the point, half to even."""
    cut = 4 * (_HEX_DIGITS - digits)
    kept, rest = mantissa >> cut, mantissa & ((1 << cut) - 1)
    half = (1 << cut) >> 1
    if cut and (rest > half or (rest == half and kept & 1)):
        kept += 1
    return (kept >> 1, exponent + 1) if kept >> (4 * digits + 1) else (kept, exponent)


def _with_point(text: str, verb: str, precision: int | None) -> str:
    """The # flag: always a decimal point, and the trailing zeros that %g leaves out."""
    end = next((i for i, c in enumerate(text) if c in ("pP" if verb in "xX" else "eE")), len(text))
    head, tail = text[:end], text[end:]
    missing = 0
    if verb in "gGx":
        missing = (_USUAL_PRECISION if precision is None else precision) - len(head.replace(".", "").lstrip("0"))
    if "." not in head:
        missing -= head == "0"
        head += "."
    return head + "0" * max(0, missing) + tail
