"""The limits of a template.

Go lets a template loop for ever and fill the memory. Here every action, turn of a loop and function call is paid
from one budget of steps, long texts cost more than short ones, and what is written is counted as it is written. The
numbers are far above any real template (a 6 KB ManifestWork takes about a hundred steps) and keep the worst one
below a second.
"""

MAX_SOURCE = 1024 * 1024
MAX_TOKENS = 20_000
"""Identifiers, operators and texts of one source; four or five to an action."""
MAX_NESTING = 50
"""Blocks and parentheses inside each other in one source."""
MAX_DEPTH = 100
"""The same, added up along templates that call templates; also the depth of a value that is printed. Python's own stack
holds a thousand calls, and a level takes about three."""
MAX_VARIABLES = 200
"""Variables alive at one place."""
MAX_STEPS = 100_000
MAX_TEXT = 4 * 1024 * 1024
"""Characters of the whole output, and of any text made on the way."""
CHARACTERS_PER_STEP = 20
ELEMENTS_PER_STEP = 16
