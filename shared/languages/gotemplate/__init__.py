"""Go templates for adapter authors: `text/template` with the adapter framework's functions and `missingkey=error`.

    source ─ lexer ─ parser ─▶ syntax tree ─┬─ compiler ──▶ something that runs
                                            └─ references ▶ the variables it reads

The answers are Go's, byte for byte, with a few wanted differences (an integer of a document stays an integer,
methods do not exist, everything has a limit). Nothing here can reach a Python object: only plain JSON-like values
are touched.
"""

from shared.languages.gotemplate.program import Template, compile_template
from shared.languages.gotemplate.structure import Structure, compile_structure

__all__ = ["Structure", "Template", "compile_structure", "compile_template"]
