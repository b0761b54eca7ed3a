"""Lines out of chunks."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from shared.kubernetes.http.lines import Lines

LINES = st.lists(st.binary(min_size=1).map(lambda line: b"{" + line.replace(b"\n", b" ") + b"}"))


@given(LINES, st.lists(st.integers(0, 200)))
def test_wherever_the_chunks_are_cut_the_lines_are_the_same(lines: list[bytes], cuts: list[int]) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    splitter, found = Lines(), []
    for begin, end in pairwise(edges):
        found += splitter.feed(whole[begin:end])
    assert found == lines


def test_empty_lines_and_what_has_no_end_yet_are_left_out() -> None:
    splitter = Lines()
    assert splitter.feed(b"\n\r\n{}\n  \n{") == [b"{}"]
    assert splitter.feed(b"}\n") == [b"{}"]
