"""Rows for people: aligned columns, and times as ages."""

from collections.abc import Sequence
from datetime import datetime

from shared import times


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell, two spaces between them, nothing behind the last."""
    lines = [header, *rows]
    widths = [max(len(line[index]) for line in lines) for index in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def age(moment: datetime | None) -> str:
    if moment is None:
        return "<unknown>"
    return duration((times.now() - moment).total_seconds())


def duration(seconds: float) -> str:
    """As kubectl prints ages: two units at the most."""
    whole = max(0, int(seconds))
    for unit, size, smaller, smaller_size in (("d", 86400, "h", 3600), ("h", 3600, "m", 60), ("m", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // smaller_size
            return f"{whole // size}{unit}{rest}{smaller}" if rest and whole < 10 * size else f"{whole // size}{unit}"
    return f"{whole}s"
