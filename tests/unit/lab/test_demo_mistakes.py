"""Mistakes of whoever starts a scenario are named before anything is created."""

import pytest

from lab.demo.scenarios import many_clusters
from lab.demo.waiting import NotReached


@pytest.mark.parametrize("text", ["", "0", "-3", "many", "1.5"])
async def test_a_number_of_clusters_that_is_none_is_named(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLUSTERS", text)
    with pytest.raises(NotReached, match=f"not '{text}'"):
        await many_clusters(None)  # type: ignore[arg-type]  # it comes to nothing before the API is asked
