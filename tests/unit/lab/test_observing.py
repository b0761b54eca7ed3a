"""The timeline goes on where a journal remembers only its latest entries."""

from collections import deque

from lab.demo.observing import entries_after


def test_only_what_came_after_the_last_entry_is_new() -> None:
    entries = deque([object() for _ in range(3)], maxlen=3)
    assert entries_after(entries, entries[0]) == list(entries)[1:]
    assert entries_after(entries, entries[-1]) == []


def test_a_journal_that_has_forgotten_the_last_entry_is_new_as_a_whole() -> None:
    first = object()
    entries = deque([first], maxlen=2)
    entries.extend([object(), object()])
    assert entries_after(entries, first) == list(entries)


def test_everything_is_new_where_there_was_nothing() -> None:
    entries = deque([object()])
    assert entries_after(entries, None) == list(entries)
