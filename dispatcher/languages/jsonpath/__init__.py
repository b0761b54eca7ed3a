"""kubectl's JSONPath, as the Go framework reads a `field`: strict about missing keys, one result or a list of them.

    compile_jsonpath("status.conditions[?(@.type=='Ready')].status").evaluate(document)

`parsing` turns the author's text into steps, `steps` says what each step selects, `program` runs them and decides what
the selected values amount to. The rules are those of client-go's `util/jsonpath`; where we differ on purpose is in
docs/differences.md.
"""

from dispatcher.languages.errors import MissingKey
from dispatcher.languages.jsonpath.program import Program, compile_jsonpath

__all__ = ["MissingKey", "Program", "compile_jsonpath"]
