"""`hyperfleet-lab up`: parts of the lab for authors who bring the rest themselves."""

import json
import sys
from collections.abc import Collection

from lab.loopback import stop_signal
from lab.system import LabSystem, Part
from lab.system.addresses import shell_lines, variables


async def run(only: Collection[Part], output: str) -> int:
    """Start the parts, print where they answer, and wait until somebody stops them."""
    stopped = stop_signal()
    async with LabSystem(parts=only) as system:
        print(_shown(system, output), end="", flush=True)
        print(f"up: {', '.join(sorted(system.parts))}; stop them with Ctrl-C", file=sys.stderr, flush=True)
        await stopped.wait()
    return 0


def _shown(system: LabSystem, output: str) -> str:
    named = variables(system)
    if output == "env":
        return shell_lines(named)
    if output == "json":
        return json.dumps(named) + "\n"
    return "".join(f"{name:<40} {value}\n" for name, value in named.items())
