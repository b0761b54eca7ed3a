"""The id of a work: the same here as in every other client of Maestro."""

import uuid

import pytest

from shared.maestro.works.identity import work_id


def test_it_is_the_id_the_go_client_makes() -> None:
    assert work_id("my-adapter", "us-east-mgmt-01", "hostedcluster-abc123") == "b91def19-ea92-570d-99b0-90412a3f9155"


@pytest.mark.parametrize("other", [("s2", "c", "n"), ("s", "c2", "n"), ("s", "c", "n2")], ids="-".join)
def test_each_part_matters(other: tuple[str, str, str]) -> None:
    assert work_id(*other) != work_id("s", "c", "n")


def test_it_is_a_uuid_of_version_5() -> None:
    assert uuid.UUID(work_id("s", "c", "n")).version == 5
