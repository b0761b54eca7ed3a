"""CEL as cel-go evaluates it without its type checker, in Python: exact, compiled to closures, bounded.

    compile_cel(source, variables={"spec", "status"}) -> CelProgram     raises Rejected
    program.evaluate({"spec": ..., "status": ...}) -> JSON value        raises EvaluationError

From source to value: `lexer` and `literals` > `parser` and `macros` > `syntax` > `checking` > `compiler`, which uses
`selection`, `calls` and `comprehensions` and the functions of `library`. `values` says how each kind is held, `results`
what leaves, `limits` how far it may go.
"""

from dispatcher.languages.cel.limits import Clock, Limits
from dispatcher.languages.cel.program import CelProgram, compile_cel

__all__ = ["CelProgram", "Clock", "Limits", "compile_cel"]
