"""The languages by name. Each is loaded when it is first used, because a command uses one of them."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from shared.languages.program import Program


@dataclass(frozen=True, slots=True)
class Language:
    """`compile` takes a source and the names of its variables, and raises Rejected.

    `reads_document`: a program reads one JSON document of any kind instead of named variables.
    """

    name: str
    compile: Callable[[str, Collection[str]], Program]
    reads_document: bool = False


def _compile_cel(source: str, variables: Collection[str]) -> Program:
    from shared.languages.cel import compile_cel  # noqa: PLC0415 - see the module

    return compile_cel(source, variables=variables)


def _compile_template(source: str, variables: Collection[str]) -> Program:
    from shared.languages.gotemplate import compile_template  # noqa: PLC0415 - see the module

    return compile_template(source, variables=variables)


def _compile_jsonpath(source: str, _: Collection[str]) -> Program:
    from shared.languages.jsonpath import compile_jsonpath  # noqa: PLC0415 - see the module

    return compile_jsonpath(source)


LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {
        "cel": Language("cel", _compile_cel),
        "template": Language("template", _compile_template),
        "jsonpath": Language("jsonpath", _compile_jsonpath, reads_document=True),
    }
)
