"""Whether two states of an object are the same for whoever wrote its manifest."""

from typing import Any

import pytest

from dispatcher.transports.comparing import is_applied_by, is_same


def document(status: Any = None, data: Any = None, **metadata: Any) -> dict[str, Any]:
    return {"kind": "X", "metadata": {"name": "a", **metadata}, "data": data or {"a": 1}, "status": status or {}}


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (document(), True),
        (document(resourceVersion="2", generation=3, managedFields=[{}], uid="u"), True),
        (document(status={"phase": "Running"}), True),
        (document(labels={"a": "b"}), False),
        (document(data={"a": 2}), False),
    ],
    ids=["nothing", "the server's bookkeeping", "the status", "a label", "content"],
)
def test_what_counts_as_a_difference(other: dict[str, Any], same: bool) -> None:  # noqa: FBT001 - a column
    assert is_same(document(), other, with_status=False) is same


def test_a_status_counts_where_the_manifest_has_one() -> None:
    assert not is_same(document(), document(status={"phase": "Running"}), with_status=True)


def test_a_writer_is_known_by_what_it_applied() -> None:
    stored = document(
        managedFields=[{"manager": "adapter", "operation": "Apply"}, {"manager": "x", "operation": "Update"}]
    )
    assert is_applied_by("adapter", stored)
    assert not is_applied_by("x", stored)
    assert not is_applied_by("adapter", {"metadata": {"managedFields": None}})
