"""Settings from environment variables. A table of them reads them, collects all problems and prints the help.

    TIMEOUT = Setting("MAESTRO_TIMEOUT", duration, 10.0, "deadline of every call", shown="10s")

    environment = Environment(os.environ)
    timeout = environment.read(TIMEOUT)
    if environment.problems: ...
    print(help_table([TIMEOUT]))

A parser takes the text of a variable and raises ValueError with a message that says what it must be. Secrets are
redacted from such a message, whatever the parser put into it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit

from shared.errors import Problem
from shared.redaction import redact_text
from shared.times import parse_duration

LONGEST_SECONDS = 365 * 24 * 3600.0
MAX_SHOWN = 60
_NAMES_WIDTH = 38

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Setting(NamedTuple, Generic[T_co]):
    """One row of the table. `default` is the value where no variable is set, `shown` is how the help writes it.

    `empty_counts`: a variable that is set and empty is a value, which removes the default.
    """

    name: str
    parse: Callable[[str], T_co]
    default: T_co
    meaning: str
    aliases: tuple[str, ...] = ()
    shown: str = ""
    required: bool = False
    empty_counts: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)


class Environment:
    """Reads settings. The first of a setting's names that is set wins, each tried with every prefix."""

    def __init__(self, variables: Mapping[str, str], *, prefixes: Sequence[str] = ("",)) -> None:
        self._variables = variables
        self._prefixes = prefixes
        self.problems: list[Problem] = []

    def origin(self, setting: Setting[object]) -> str | None:
        """The variable that sets it."""
        for name in (f"{prefix}{name}" for prefix in self._prefixes for name in setting.names):
            text = self._variables.get(name)
            if text is not None and (setting.empty_counts or text.strip()):
                return name
        return None

    def read(self, setting: Setting[T]) -> T:
        """The value. A malformed or missing one is a problem, and its default is used."""
        origin = self.origin(setting)
        if origin is None:
            if setting.required:
                self.problems.append(Problem(setting.name, "must be set"))
            return setting.default
        try:
            return setting.parse(self._variables[origin].strip())
        except ValueError as error:
            self.problems.append(Problem(origin, redact_text(str(error))))
            return setting.default


def help_table(settings: Iterable[Setting[object]]) -> str:
    """One row per setting: its names, its meaning and its default."""
    lines = []
    for setting in settings:
        names = ", ".join(setting.names)
        default = f" [{setting.shown}]" if setting.shown else ""
        if len(names) > _NAMES_WIDTH:
            lines.append(f"  {names}")
            names = ""
        lines.append(f"  {names:<{_NAMES_WIDTH}}  {setting.meaning}{default}")
    return "".join(f"{line}\n" for line in lines)


def quoted(text: str) -> str:
    """A value in an error message: without secrets, in quotes, shortened."""
    shown = redact_text(text)
    return repr(shown if len(shown) <= MAX_SHOWN else f"{shown[:MAX_SHOWN]}…")


def absolute_file(text: str) -> Path:
    if text.endswith("/") or not Path(text).is_absolute():
        raise ValueError(f"must be the absolute path of a file, not {quoted(text)}")
    return Path(text)


def positive_duration(text: str) -> float:
    seconds = parse_duration(text)
    if not 0 < seconds <= LONGEST_SECONDS:
        raise ValueError(f"must be more than 0 and at most a year, not {quoted(text)}")
    return seconds


def one_of(*allowed: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}, not {quoted(text)}")
        return text.lower()

    return parse


def whole_number(text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 19):  # noqa: PLR2004 - digits of 64 bits
        raise ValueError(f"must be a whole number, not {quoted(text)}")
    return int(text)


def flag(text: str) -> bool:
    match text.lower():
        case "1" | "t" | "true":
            return True
        case "0" | "f" | "false":
            return False
    raise ValueError(f"must be true or false, not {quoted(text)}")


def pairs(text: str) -> dict[str, str]:
    listed = [each.strip().partition("=") for each in text.split(",") if each.strip()]
    if not all(key and equals for key, equals, _ in listed):
        raise ValueError("must be pairs such as a=b,c=d")
    return {key: value for key, _, value in listed}


def url(text: str) -> str:
    """An http or https URL of a host that can be looked up."""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and is_host(parts.hostname or "") and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError(f"must be an http or https URL such as https://example.com:8443, not {quoted(text)}")
    return text


def is_host(text: str) -> bool:
    """Whether `text` is an address or a name that can be looked up: ASCII labels of at most 63 characters."""
    if ":" in text:
        return True  # an IPv6 address, which the URL parser has checked
    labels = text.removesuffix(".").split(".")
    return text.isascii() and len(text) <= 253 and all(_is_host_label(each) for each in labels)  # noqa: PLR2004 - DNS


def _is_host_label(text: str) -> bool:
    return 0 < len(text) <= 63 and all(each.isalnum() or each in "-_" for each in text)  # noqa: PLR2004 - DNS
