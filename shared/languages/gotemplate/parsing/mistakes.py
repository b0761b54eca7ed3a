"""What an author probably meant: hints for mistakes that come from Jinja, from Helm or from a slip of the finger."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from itertools import islice

_OTHER_WORDS = {
    "elif": "write {{ else if … }}",
    "elseif": "write {{ else if … }}",
    "endblock": "every block ends with {{ end }}",
    "endfor": "every block ends with {{ end }}",
    "endif": "every block ends with {{ end }}",
    "endwith": "every block ends with {{ end }}",
    "for": "write {{ range $item := .list }} … {{ end }}",
    "foreach": "write {{ range $item := .list }} … {{ end }}",
    "include": 'write {{ template "name" . }}',
    "none": "the empty value is written nil",
    "None": "the empty value is written nil",
    "null": "the empty value is written nil",
    "True": "write true",
    "False": "write false",
    "set": "write {{ $name := … }}",
    "unless": "write {{ if not … }}",
    "while": "there is only {{ range … }}",
}
_SPRIG = frozenset({
    "add", "b64dec", "b64enc", "coalesce", "concat", "dict", "div", "empty", "fail", "first", "fromJson", "get",
    "hasKey", "indent", "join", "keys", "last", "list", "lookup", "max", "merge", "min", "mod", "mul", "nindent",
    "required", "sha256sum", "split", "splitList", "squote", "sub", "ternary", "toJson", "toString", "toYaml",
    "tpl", "trimAll", "trunc", "uniq", "until", "values",
})  # fmt: skip
_OPERATORS = {
    "!": "compare with ne, negate with not",
    "%": "Jinja's {% … %} does not exist here; actions are written {{ … }}",
    "&": "combine with and: {{ if and .a .b }}",
    "*": "templates do not calculate",
    "+": "templates do not calculate; join texts with print: {{ print .a .b }}",
    "-": "templates do not calculate",
    "/": "templates do not calculate; a comment is written {{/* … */}} with nothing between the braces and the stars",
    "<": "compare with lt or le: {{ if lt .a .b }}",
    "=": "compare with eq: {{ if eq .a .b }}; assign with spaces around = or :=",
    ">": "compare with gt or ge: {{ if gt .a .b }}",
    "?": "write {{ if … }} … {{ else }} … {{ end }}",
    "~": "join texts with print: {{ print .a .b }}",
}
_SHOWN = 10
_LONGEST = 100
_MOST = 500


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like this one; comparing is slow, so only short names and not too many of them."""
    if len(name) > _LONGEST:
        return None
    candidates = sorted(candidate for candidate in islice(known, _MOST) if len(candidate) <= _LONGEST)
    return next(iter(get_close_matches(name, candidates, n=1, cutoff=0.6)), None)


def operator(character: str) -> str | None:
    return _OPERATORS.get(character)


def character(character: str, before: str) -> str | None:
    """For a character that cannot follow `before`, the word it is attached to."""
    if character == "[":
        return f"elements are reached with index: {{{{ index {before} 0 }}}}"
    if character == "-" and before.startswith("."):
        return 'a key with a dash is reached with index: {{ index .map "my-key" }}'
    if character in "'\"":
        return "a space is missing before the text"
    return operator(character)


def function(name: str, functions: Iterable[str], variables: Iterable[str]) -> str:
    """For a word that is no function."""
    if name in _OTHER_WORDS:
        return _OTHER_WORDS[name]
    if name in variables:
        return f"a variable starts with a dot: {{{{ .{name} }}}}"
    if name in _SPRIG:
        return f"{name} is a function of Helm and sprig, which are not available here"
    near = nearest(name, functions)
    if near is not None:
        return f"did you mean {near}?"
    return f"a variable starts with a dot: {{{{ .{name} }}}}"


def variable(name: str, variables: Collection[str]) -> str:
    """For a variable that is not among those there are."""
    near = nearest(name, variables)
    if near is not None:
        return f"did you mean .{near}?"
    if not variables:
        return "there are no variables here"
    return f"the variables are {', '.join(sorted(variables)[:_SHOWN])}{' …' if len(variables) > _SHOWN else ''}"


def in_source(source: str, hint: str | None) -> str | None:
    """For a source that is refused and contains signs of Jinja."""
    if "{%" not in source:
        return hint
    return f"{hint}; {_OPERATORS['%']}" if hint else _OPERATORS["%"]
