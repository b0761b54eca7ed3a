"""`python -m lab.demo.picture < a-run.log > docs/images/demo.svg`: the README's picture, from what a run printed."""

import io
import re
import sys
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from lab.demo.timeline import COLOURS

_LINE = re.compile(r"^ *(?P<at>[\d.]+) s  (?P<who>.{16}) (?P<what>.*)$")
_STYLES = {"1": "bold", "31": "red", "32": "green", "33": "yellow", "34": "blue", "35": "magenta", "36": "cyan"}
_WIDTH = 120


def picture(lines: Iterable[str]) -> str:
    """The first scenario up to the cluster that is available."""
    console = Console(record=True, width=_WIDTH, file=io.StringIO())
    for line in lines:
        if not (found := _LINE.match(line)):
            continue
        colour = _STYLES.get(COLOURS.get(found["who"].strip(), "").rpartition(";")[2], "default")
        console.print(Text(f"{found['at']:>7} s  ", "dim"), Text(found["who"], colour), found["what"][:90], sep="")
        if found["what"].startswith("see the endpoint"):
            break
    return console.export_svg(title="make demo")


if __name__ == "__main__":
    sys.stdout.write(picture(sys.stdin))
