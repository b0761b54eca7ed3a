"""kubectl's JSONPath, as the Go framework reads a `field`: strict about missing keys, one result or a list of them.

    compile_jsonpath("status.conditions[?(@.type=='Ready')].status").evaluate(document)

`parser` and `path_parser` turn the author's text into steps, `steps` evaluates each of them, `program` combines the
selected values. The rules are those of client-go's `util/jsonpath`; where we differ on purpose is in
docs/differences.md.
"""

from shared.languages.errors import MissingKey
from shared.languages.jsonpath.program import Program, compile_jsonpath

__all__ = ["MissingKey", "Program", "compile_jsonpath"]
