"""What an author probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 64


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like this one, if one does; capitals and underscores count for little."""
    if len(name) > _LONGEST:
        return None
    by_letters = {_letters(each): each for each in sorted(known, reverse=True)}
    return next(
        (by_letters[letters] for letters in get_close_matches(_letters(name), by_letters, n=1, cutoff=0.6)), None
    )


def _letters(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
