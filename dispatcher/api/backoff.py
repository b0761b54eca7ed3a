"""How long to wait between the attempts of a call."""

import random

from shared.errors import Misconfigured, Problem

_JITTER = 0.1
GROWTHS = ("exponential", "linear", "constant")


def delay(growth: str, failures: int, *, base: float, longest: float, least: float | None = None) -> float:
    """Seconds to wait after so many failures: ± 10 %, so that callers do not come back in step.

    `least` is the wait that the server named.
    """
    match growth:
        case "exponential":
            seconds = base * 2.0 ** min(failures - 1, 64)
        case "linear":
            seconds = base * failures
        case "constant":
            seconds = base
        case _:
            problem = Problem("retry_backoff", f"{growth!r} is not one of {', '.join(GROWTHS)}")
            raise Misconfigured("the call cannot be tried again", [problem])
    jittered = seconds * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - no secret depends on it
    return min(max(jittered, least or 0.0), longest)
