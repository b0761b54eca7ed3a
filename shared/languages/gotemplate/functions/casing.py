"""Upper, lower and title case as Go makes them: `lower` and `upper` turn one character into one, `title` looks for
words.
"""

import re
from unicodedata import category

# Single quotes, points and colons do not end a word when they stand alone between letters.
_MID = frozenset(":.'\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a")
_JOINING = frozenset("_\u202f\u203f\u2040\u2054\ufe33\ufe34\ufe4d\ufe4e\ufe4f\uff3f")
_BREAKING = frozenset({
    "Cc", "Cn", "Co", "No", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs",
})  # fmt: skip
_IGNORED = frozenset({"Mn", "Me", "Cf", "Lm", "Sk"})
_MOST_IGNORED = 30
_ASCII_WORD = re.compile(r"[a-zA-Z](?:\w|[:.'](?![:.']))*", re.ASCII)
# Scripts in which each letter is a word.
_SEPARATE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def lower(text: str) -> str:
    return text.lower() if text.isascii() else text.translate({ord(c): _lower(c) for c in set(text)})


def upper(text: str) -> str:
    return text.upper() if text.isascii() else text.translate({ord(c): _upper(c) for c in set(text)})


def title(text: str) -> str:
    """The first cased letter of every word in title case, the others in lower case."""
    if text.isascii():
        return _ASCII_WORD.sub(lambda word: word.group().capitalize(), text)
    cased, ending = {c for c in set(text) if _is_cased(c)}, {c for c in set(text) if _ends_word(c)}
    written = []
    inside_word = after_mid = False
    for position, character in enumerate(text):
        mid = character in _MID
        if mid and after_mid:
            inside_word = False
        if character in cased:
            written.append(_lower_in(text, position) if inside_word else character.title())
            inside_word = True
        else:
            written.append(character)
            if character in ending:
                inside_word = False
        after_mid = mid
    return "".join(written)


def _lower(character: str) -> str:
    return character.lower()[0]


def _upper(character: str) -> str:
    for candidate in (character.upper(), character.title()):
        if len(candidate) == 1:
            return candidate
    return character


def _lower_in(text: str, position: int) -> str:
    """A sigma that ends its word has a form of its own."""
    if text[position] == "Σ":
        return "ς" if _ends_behind(text, position) else "Σ".lower()
    return text[position].lower()


def _ends_behind(text: str, position: int) -> bool:
    """Whether no cased letter follows. Like Go, it looks no further than behind thirty marks that case ignores."""
    for character in text[position + 1 : position + 2 + _MOST_IGNORED]:
        if not _is_ignored(character):
            return not _is_cased(character)
    return True


def _is_ignored(character: str) -> bool:
    return category(character) in _IGNORED or character in _MID


def _is_cased(character: str) -> bool:
    return character.isupper() or character.islower() or character.istitle()


def _ends_word(character: str) -> bool:
    if character in _MID or character in _JOINING:
        return False
    kind = category(character)
    return kind in _BREAKING or (kind == "Lo" and bool(_SEPARATE.match(character)))
