"""Which URL an author's `url` means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatcher.api.urls import is_same_server, resolve
from shared.errors import Invalid

BASE = "https://api.example.com"
CASES = [
    (BASE, "clusters/1", f"{BASE}/api/hyperfleet/v2/clusters/1"),
    (BASE, "/clusters/1", f"{BASE}/api/hyperfleet/v2/clusters/1"),
    (BASE, "api/hyperfleet/v1/clusters/1", f"{BASE}/api/hyperfleet/v1/clusters/1"),
    (BASE, "/api/hyperfleet/v1/clusters/1", f"{BASE}/api/hyperfleet/v1/clusters/1"),
    (BASE, "apiary/1", f"{BASE}/api/hyperfleet/v2/apiary/1"),
    (BASE, "", f"{BASE}/api/hyperfleet/v2"),
    (f"{BASE}/", "clusters//1/./x/../statuses/", f"{BASE}/api/hyperfleet/v2/clusters/1/statuses"),
    (f"{BASE}/gateway/", "clusters/1", f"{BASE}/gateway/api/hyperfleet/v2/clusters/1"),
    (BASE, "clusters?search=name='a b'&size=100", f"{BASE}/api/hyperfleet/v2/clusters?search=name='a+b'&size=100"),
    (BASE, "clusters?search=a%2Bb%26c", f"{BASE}/api/hyperfleet/v2/clusters?search=a%2Bb%26c"),
    (BASE, "clusters/a%2Fb", f"{BASE}/api/hyperfleet/v2/clusters/a%2Fb"),
    (BASE, "clusters/1#part", f"{BASE}/api/hyperfleet/v2/clusters/1"),
    (BASE, f"{BASE}/api/hyperfleet/v1/clusters/1?x=1", f"{BASE}/api/hyperfleet/v1/clusters/1?x=1"),
    (BASE, "http://other.example.com/place?x=1#y", "http://other.example.com/place?x=1"),
    (BASE, " clusters/1\n", f"{BASE}/api/hyperfleet/v2/clusters/1"),
]


@pytest.mark.parametrize(("base", "written", "asked"), CASES, ids=[written or "empty" for _, written, _ in CASES])
def test_a_url_is_resolved(base: str, written: str, asked: str) -> None:
    assert str(resolve(written, base_url=base, version="v2")) == asked


@pytest.mark.parametrize("written", ["ftp://x/y", "file:///etc/passwd", "http://", "http://[::1", "http://x:99999/"])
def test_what_cannot_be_called_is_refused(written: str) -> None:
    with pytest.raises(Invalid):
        resolve(written, base_url=BASE, version="v1")


@given(st.text(max_size=60))
def test_whatever_is_written_a_relative_url_stays_on_the_api(written: str) -> None:
    try:
        url = resolve(f"clusters/{written}", base_url=BASE, version="v1")
    except Invalid:
        return
    assert is_same_server(url, BASE)


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("https://api.example.com/x", True),
        ("https://API.example.com:443/x", True),
        ("http://api.example.com/x", False),
        ("https://api.example.com:8443/x", False),
        ("https://api.example.com.evil.net/x", False),
        ("https://api.example.com@evil.net/x", False),
    ],
)
def test_another_scheme_host_or_port_is_another_server(written: str, same: bool) -> None:  # noqa: FBT001 - a column
    assert is_same_server(resolve(written, base_url=BASE, version="v1"), BASE) is same
