"""The webhook's certificate: when a stored one is good enough, and what a renewed one is trusted with."""

import base64
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509

from dpu_bridge.operator.webhook.certificate import RENEW_BEFORE, VALID, is_usable, new_certificate

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = ("hook.ns.svc", "hook.ns.svc.cluster.local")
MADE = new_certificate(NAMES, NOW, trusted="")


@pytest.mark.parametrize(
    ("data", "names", "now", "expected"),
    [
        pytest.param(MADE, NAMES, NOW, True, id="a new one"),
        pytest.param(MADE, NAMES, NOW + VALID - RENEW_BEFORE, False, id="one that is due for renewal"),
        pytest.param(MADE, ("other.ns.svc",), NOW, False, id="one for another service"),
        pytest.param({}, NAMES, NOW, False, id="none"),
        pytest.param({**MADE, "tls.crt": "bm90IHBlbQ=="}, NAMES, NOW, False, id="one that cannot be read"),
        pytest.param({k: v for k, v in MADE.items() if k != "tls.key"}, NAMES, NOW, False, id="one without a key"),
    ],
)
def test_a_stored_certificate(*, data: dict[str, str], names: tuple[str, ...], now: datetime, expected: bool) -> None:
    assert is_usable(data, names, now) is expected


def test_after_a_renewal_the_certificate_before_is_still_trusted() -> None:
    renewed = new_certificate(NAMES, NOW + timedelta(days=300), trusted=MADE["tls.crt"])
    bundle = x509.load_pem_x509_certificates(base64.b64decode(renewed["ca.crt"]))
    served = [x509.load_pem_x509_certificate(base64.b64decode(each["tls.crt"])) for each in (renewed, MADE)]
    assert bundle == served


def test_a_certificate_before_that_cannot_be_read_is_left_out() -> None:
    assert x509.load_pem_x509_certificates(base64.b64decode(new_certificate(NAMES, NOW, trusted="%")["ca.crt"]))
