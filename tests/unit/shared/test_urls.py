"""Which protocol a configured URL asks for, if it can be connected to at all."""

import pytest

from shared.network.urls import usable_scheme


@pytest.mark.parametrize(
    ("url", "scheme"),
    [
        ("http://api:8000", "http"),
        ("https://[::1]/x", "https"),
        ("amqp://user:word@rabbitmq:5672/vhost", "amqp"),
        ("amqps://", "amqps"),
        ("ftp://elsewhere", "ftp"),
    ],
)
def test_a_url_that_can_be_connected_to_names_its_protocol(url: str, scheme: str) -> None:
    assert usable_scheme(url) == scheme


@pytest.mark.parametrize(
    "url", ["", "api:8000", "http://", "http://:80", "http://api:0", "http://api:port", "http://[bad"]
)
def test_what_cannot_be_connected_to_names_none(url: str) -> None:
    assert usable_scheme(url) == ""
