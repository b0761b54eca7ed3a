"""CEL as cel-go evaluates it without its type checker, in Python: exact, compiled to closures, bounded.

    compile_cel(source, variables={"spec", "status"}) -> CelProgram     raises Rejected
    program.evaluate({"spec": ..., "status": ...}) -> JSON value        raises EvaluationError

From source to value: `lexer` and `literals` > `parser` and `macros` > `syntax` > `checking` > `compiler`, which uses
`selection`, `calls`, `comprehensions` and `functions`. `values` says how each kind is held, `results` what leaves,
`limits` how far it may go.
"""

from shared.languages.cel.limits import Limits
from shared.languages.cel.program import CelProgram, compile_cel
from shared.languages.clock import Clock

__all__ = ["CelProgram", "Clock", "Limits", "compile_cel"]
