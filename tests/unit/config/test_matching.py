"""Which templates can give the same text."""

import pytest

from dispatcher.config.checking.matching import cannot_equal

NEVER_EQUAL = [
    ("a", "b"),
    ("{{ .id }}", "{{ .id }}-x"),
    ("{{ .id }}-a", "{{ .id }}-b"),
    ("x-{{ .id }}", "{{ .id }}"),
    ("{{ .a }}{{ .b }}", "{{ .b }}-{{ .a }}"),
]
PERHAPS_EQUAL = [
    ("{{ .id }}", "{{.id}}"),
    ("{{ .id }}", "{{ .name }}"),
    ("{{ .id }}", "x"),
    ("a{{ if .x }}b{{ end }}", "a{{ if .x }}c{{ end }}"),
    ("{{ .a }}-{{ .b }}", "{{ .b }}-{{ .a }}"),
]


@pytest.mark.parametrize(("one", "other"), NEVER_EQUAL)
def test_templates_that_never_give_the_same(one: str, other: str) -> None:
    assert cannot_equal(one, other)


@pytest.mark.parametrize(("one", "other"), PERHAPS_EQUAL)
def test_templates_that_may_give_the_same(one: str, other: str) -> None:
    assert not cannot_equal(one, other)
