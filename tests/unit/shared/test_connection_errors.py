"""What is said about a connection that failed."""

import aiohttp
import pytest

from shared.network.connection_errors import cause_of


async def test_a_refused_connection_is_said_without_the_librarys_objects() -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectorError) as refused:
            await session.get("http://127.0.0.1:9/")
    said = cause_of(refused.value)
    assert said.startswith("no connection to 127.0.0.1:9: ")
    assert "object at" not in said


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionResetError(), "ConnectionResetError"),
        (OSError(5, "Input/output error"), "[Errno 5] Input/output error"),
    ],
    ids=["without a text", "with a text"],
)
def test_other_errors_say_their_text_or_their_name(error: OSError, said: str) -> None:
    assert cause_of(error) == said
