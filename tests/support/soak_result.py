"""The end of a soak: a table for the log, and a picture of it for the documentation."""

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape

from tests.support.soak import CHANGES, Record, Span

_COLOURS = {"created": "#4c9f70", "updated": "#4a7fb5", "deleted": "#b0b0b0"}
_MEANING = {"created": "created → Available", "updated": "updated → new version Available", "deleted": "deleted → gone"}
_WIDTH, _LEFT, _TOP = 1000.0, 170.0, 60.0
_OUTAGE_ROW, _MOST_ROW = 16.0, 8.0
_FONT = 'font-family="sans-serif" font-size="12"'


def table(record: Record, left_behind: Mapping[str, int]) -> Iterator[str]:
    """`left_behind` are objects that should be gone, by their kind."""
    count = len({*record.changes, *record.lost})
    yield f"{count} clusters in {record.now:.0f} s, {len(record.outages)} outages"
    done = Counter(span.name for spans in record.changes.values() for span in spans)
    yield _row("clusters", ", ".join(f"{done[change]} {change}" for change in CHANGES))
    yield _row("lost", str(len(record.lost)))
    yield _row("with a second work or HostedCluster", str(len(record.duplicates)))
    yield _row("left behind", ", ".join(f"{number} {kind}" for kind, number in left_behind.items()))
    killed = Counter(outage.name for outage in record.outages)
    yield _row("killed", ", ".join(f"{name} {times} times" for name, times in killed.items()))
    yield _row("from a change to its report", f"{'median':>9}{'longest':>10}")
    for change in CHANGES:
        took = [span.seconds for spans in record.changes.values() for span in spans if span.name == change]
        if took:
            yield _row(f"  {_MEANING[change]}", f"{statistics.median(took):7.1f} s{max(took):8.1f} s")


def _row(name: str, value: str) -> str:
    return f"{name:38}{value}"


def picture(record: Record) -> str:
    """One line for each cluster from left to right, and a band through all of them for each outage."""
    components = list(dict.fromkeys(outage.name for outage in record.outages))
    lives = sorted((spans for spans in record.changes.values() if spans), key=lambda spans: spans[0].began)
    row = min(_MOST_ROW, 600 / max(len(lives), 1))
    above = _TOP + _OUTAGE_ROW * len(components)
    height = above + row * len(lives) + 40
    end = max([span.ended for spans in lives for span in spans] + [1.0])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 20:g} {height:g}" {_FONT}>',
        '<rect width="100%" height="100%" fill="white"/>',
        *_legend(len(lives)),
        *(line for each in record.outages for line in _outage(each, components, end, height)),
        *(
            f'<text x="{_LEFT - 8:g}" y="{_TOP + _OUTAGE_ROW * number + 11:g}" text-anchor="end">{escape(name)}</text>'
            for number, name in enumerate(components)
        ),
        *(_line(span, above + row * number, row, end) for number, spans in enumerate(lives) for span in spans),
        *_axis(end, height),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _legend(count: int) -> Iterator[str]:
    yield f'<text x="{_LEFT:g}" y="22" font-size="15">{count} clusters while every component is killed in turn</text>'
    for number, change in enumerate(CHANGES):
        x = _LEFT + 260 * number
        yield f'<rect x="{x:g}" y="34" width="14" height="10" fill="{_COLOURS[change]}"/>'
        yield f'<text x="{x + 20:g}" y="43">{escape(_MEANING[change])}</text>'


def _outage(outage: Span, components: list[str], end: float, height: float) -> Iterator[str]:
    x, width = _x(outage.began, end), max(_x(outage.ended, end) - _x(outage.began, end), 1.0)
    y = _TOP + _OUTAGE_ROW * components.index(outage.name)
    yield f'<rect x="{x:.1f}" y="{_TOP:g}" width="{width:.1f}" height="{height - _TOP - 30:.1f}" fill="#f6e3df"/>'
    yield f'<rect x="{x:.1f}" y="{y + 3:g}" width="{width:.1f}" height="10" fill="#c0392b"/>'


def _line(span: Span, y: float, row: float, end: float) -> str:
    x, width = _x(span.began, end), max(_x(span.ended, end) - _x(span.began, end), 0.5)
    thick = max(row * 0.7, 0.8)
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{thick:.1f}" '
        f'fill="{_COLOURS[span.name]}" fill-opacity="0.85"/>'
    )


def _axis(end: float, height: float) -> Iterator[str]:
    step = next((each for each in (10, 30, 60, 120, 300, 600) if end / each <= 12), 1200)
    for seconds in range(0, int(end) + 1, step):
        text = f"{seconds // 60}:{seconds % 60:02}"
        yield f'<text x="{_x(seconds, end):.1f}" y="{height - 10:g}" text-anchor="middle">{text}</text>'


def _x(seconds: float, end: float) -> float:
    return _LEFT + _WIDTH * seconds / end
