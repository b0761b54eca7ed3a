"""Concealing: a secret stays unseen in every place its key or its form betrays it, and the rest stays readable."""

import base64
import json
import string
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.redaction import REDACTED, redact, redact_text, register_secret

PROPERTY = settings(max_examples=60, deadline=None)
SECRET = "s3cr3t-V4lue"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIE{0}\n-----END RSA PRIVATE KEY-----"

# A marker that no template contains, around whatever the drawn middle is.
BARE = st.text(string.ascii_letters + string.digits + "-_.~+/=!$%*^,;)]}", max_size=10).map(
    lambda middle: f"Qx7{middle}7xQ"
)
ANY = st.text(string.printable + "äß漢", max_size=10).map(lambda middle: f"Qx7{middle}7xQ")
URL_SAFE = st.text(string.ascii_letters + string.digits + "-_", min_size=6, max_size=12).map(
    lambda middle: f"Qx7{middle}7xQ"
)

KEYS = st.sampled_from(
    [
        *("password", "PGPASSWORD", "db_passwd", "passphrase", "token", "access_token", "tokens", "token2"),
        *("client_secret", "secretKey", "aws_secret_access_key", "Authorization", "proxy-authorization", "credentials"),
        *("api_key", "X-Api-Key", "apiKey", "private_key", "client-key-data", "Set-Cookie"),
    ]
)


class TestStructures:
    @PROPERTY
    @given(
        KEYS, ANY, st.sampled_from([str, str.encode, lambda text: [text], lambda text: {"x": {"y": text}}]), st.data()
    )
    def test_a_value_under_a_secret_key_is_never_seen_however_deep(
        self, key: str, secret: str, form: Callable[[str], Any], data: st.DataObject
    ) -> None:
        value: Any = {key: form(secret), "beside": "seen"}
        for _ in range(data.draw(st.integers(0, 4))):
            value = data.draw(st.sampled_from([[value], (1, value, "x"), {"spec": value}, {"items": [value]}]))
        shown = repr(redact(value))
        assert "Qx7" not in shown
        assert "7xQ" not in shown
        assert "seen" in shown

    @pytest.mark.parametrize(
        "value",
        [
            pytest.param({"name": "DB_PASSWORD", "value": SECRET}, id="an environment variable of a pod"),
            pytest.param([("authorization", SECRET)], id="a header as a pair"),
            pytest.param([[b"X-Api-Key", SECRET.encode()]], id="a header in bytes"),
            pytest.param({"kind": "Secret", "data": {"x": SECRET}}, id="the data of a Secret"),
            pytest.param({"kind": "Secret", "stringData": {"x": SECRET}}, id="the texts of a Secret"),
            pytest.param({f"token={SECRET}": 1}, id="a secret in a key"),
            pytest.param({b"password": SECRET}, id="a key in bytes"),
            pytest.param({"password": 12345}, id="a number"),
            pytest.param({f"password={SECRET}"}, id="a set"),
            pytest.param(bytearray(f"password={SECRET}".encode()), id="a byte array"),
            pytest.param(ValueError(f"password={SECRET}"), id="an error"),
        ],
    )
    def test_secrets_in_the_forms_of_this_house_are_not_seen(self, value: Any) -> None:
        shown = repr(redact(value))
        assert SECRET not in shown
        assert "12345" not in shown
        assert REDACTED in shown

    @pytest.mark.parametrize("value", [None, True, False, ""], ids=repr)
    def test_that_there_is_no_secret_may_be_seen(self, value: Any) -> None:
        assert redact({"token": value}) == {"token": value}

    @pytest.mark.parametrize(
        "key",
        [
            *("token_file", "MAESTRO_TOKEN_FILE", "secret_name", "secretName", "token_url", "credentials_path"),
            *("token_ttl", "secret_type", "token_count", "passwd_dir", "cluster_id", "key", "author"),
        ],
    )
    def test_what_only_speaks_about_a_secret_stays_readable(self, key: str) -> None:
        assert redact({key: "plain"}) == {key: "plain"}

    def test_plain_values_stay_as_they_are(self) -> None:
        value = {"a": 1, "b": 1.5, "c": None, "d": [True, "x"], "e": {"name": "n", "value": "v"}, "kind": "ConfigMap"}
        assert redact(value) == value

    def test_the_caller_keeps_its_own_structure(self) -> None:
        value = {"token": SECRET, "list": [{"password": SECRET}]}
        redact(value)
        assert value == {"token": SECRET, "list": [{"password": SECRET}]}

    def test_a_structure_that_contains_itself_has_an_end(self) -> None:
        value: dict[str, Any] = {"password": SECRET, "plain": "seen"}
        value["self"] = [value]
        shown = repr(redact(value))
        assert SECRET not in shown
        assert "seen" in shown
        assert "..." in shown

    def test_an_object_that_cannot_even_say_what_it_is_breaks_nothing(self) -> None:
        class Broken:
            def __str__(self) -> str:
                raise RuntimeError(SECRET)

        assert redact({"x": Broken()}) == {"x": "<Broken without a text>"}


class TestTexts:
    BARE_FORMS = (
        "token={}",
        "the access_token={} was refused",
        "password: {}",
        "PASSWORD = {}",
        "https://host/path?access_token={}&x=1",
        "AWS_SECRET_ACCESS_KEY={}",
        "client-key-data: {}",
        "curl -H 'Authorization: Bearer {}'",
        "authorization=Basic {}",
        "bearer {}",
        "proxy-authorization: {}",
        "Cookie: session={}",
        "Settings(token={}, user=bob)",
        "user=bob api_key={}",
        "line one\nsecret={}\nline three",
    )

    @PROPERTY
    @given(st.sampled_from(BARE_FORMS), BARE)
    def test_a_bare_secret_in_a_message_is_not_seen(self, form: str, secret: str) -> None:
        secret = (
            secret.replace("'", "").replace(",", "").replace(";", "") if "earer" in form or "asic" in form else secret
        )
        shown = redact_text(form.format(secret))
        assert "Qx7" not in shown
        assert "7xQ" not in shown

    QUOTED_FORMS: tuple[Callable[[str, str], str], ...] = (
        lambda key, secret: json.dumps({"a": 1, key: secret, "z": "seen"}),
        lambda key, secret: json.dumps({key: secret}, ensure_ascii=False, indent=2),
        lambda key, secret: repr({key: secret}),
        lambda key, secret: repr({key: secret.encode()}),
        lambda key, secret: f"{key}={secret!r} and more",
        lambda key, secret: f"failed: {key}: {json.dumps(secret)}",
        lambda key, secret: json.dumps({key: [secret.replace("]", ""), "x"]}),
    )

    @PROPERTY
    @given(KEYS, st.sampled_from(QUOTED_FORMS), ANY)
    def test_a_quoted_secret_is_not_seen_whatever_it_is_made_of(
        self, key: str, form: Callable[[str, str], str], secret: str
    ) -> None:
        secret = secret.translate({ord(each): None for each in "})]"})
        shown = redact_text(form(key, secret))
        assert "Qx7" not in shown
        assert "7xQ" not in shown

    @PROPERTY
    @given(
        KEYS, st.text(string.ascii_letters + string.digits + " :,{}", max_size=10).map(lambda middle: f"Qx7{middle}7xQ")
    )
    def test_a_secret_in_json_inside_json_is_not_seen(self, key: str, secret: str) -> None:
        inner = json.dumps({key: secret, "z": "seen"})
        shown = redact_text(json.dumps({"last-applied": inner}))
        assert "Qx7" not in shown
        assert "7xQ" not in shown
        assert "seen" in shown

    @PROPERTY
    @given(
        URL_SAFE,
        st.sampled_from(["eyJhbGciOiJub25l.{}.c2ln", "eyJhbGciOiJub25l.e30.{}", "x_eyJhbGciOi.a.{}.b.c", "sha256~{}"]),
    )
    def test_a_token_by_its_form_alone_is_not_seen(self, secret: str, form: str) -> None:
        assert secret not in redact_text(f"got {form.format(secret)} from it")

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param(PEM.format(SECRET), id="a key"),
            pytest.param(json.dumps({"file": PEM.format(SECRET)}), id="a key in JSON"),
            pytest.param(PEM.format(SECRET)[:60], id="a key that is cut"),
            pytest.param(PEM.replace("RSA ", "").format(SECRET), id="a PKCS 8 key"),
            pytest.param(PEM.replace("RSA", "OPENSSH").format(SECRET), id="a key of ssh"),
            pytest.param("x\n" * 3 + PEM.format(SECRET) + "\nafter", id="a key among lines"),
            pytest.param(f"postgres://user:{SECRET}@host/db", id="a password in a URL"),
            pytest.param(f"postgres://user:p@ss{SECRET}@host/db", id="a password with an at sign in a URL"),
            pytest.param(f"https://{SECRET}@host", id="a user that is a token"),
        ],
    )
    def test_keys_and_addresses_do_not_show_their_secrets(self, text: str) -> None:
        assert SECRET not in redact_text(text)

    @pytest.mark.parametrize(
        "text",
        [
            "work 'w' on mgmt-01: somebody else wrote first: the resource version is not the latest, the latest version: 2",
            "the token file /run/secrets/token cannot be read: No such file or directory",
            "auth.token_file: must be a string, not 5",
            "MAESTRO_TOKEN_FILE=/run/token",
            'Secret "pull-secret" not found',
            "https://maestro.example:8090/api/maestro/v1 answered 503",
            "mail to ops@example.com about https://example.com/@user",
            "unauthorized to publish the event from source adapter-1",
            "PULL_SECRET: must be set",
            "MAESTRO_TOKEN_FILE, PASSWORD: must not be empty; SSH_KEY_SECRET: is not set",
            "the pull secret: not found",
            "api_key: required",
        ],
    )
    def test_a_message_without_a_secret_stays_as_it_is(self, text: str) -> None:
        assert redact_text(text) == text

    @pytest.mark.parametrize(
        "text",
        ["password: must", f"password: mustbe{SECRET}", f"secret: is{SECRET}", f"token: 'must be {SECRET}'"],
    )
    def test_what_only_begins_like_a_sentence_is_redacted(self, text: str) -> None:
        assert SECRET not in redact_text(text)
        assert "must" not in redact_text(text)

    @pytest.mark.parametrize(
        "text",
        [
            f"PASSWORD={SECRET}",
            f"BEARER {SECRET}",
            f"Private_Key={SECRET}",
            f"pa\u017fsword={SECRET}",
            f"to\u212aen={SECRET}",
            f"bas\u0130c {SECRET}",
        ],
        ids=ascii,
    )
    def test_a_secret_is_not_seen_in_whatever_case_its_name_is_written(self, text: str) -> None:
        assert SECRET not in redact_text(text)

    def test_around_a_secret_the_message_stays_readable(self) -> None:
        text = f"POST https://user:{SECRET}@host/x failed: token={SECRET} is refused for cluster c1"
        assert redact_text(text) == "POST https://***@host/x failed: token=*** is refused for cluster c1"

    @pytest.mark.parametrize(
        "unit", ["token", "a-", "://x", '"', "\\", "eyJaaaaa", "password: [", "bearer ", "token_file="]
    )
    def test_a_long_hostile_text_is_dealt_with_in_no_time(self, unit: str) -> None:
        started = time.process_time()
        redact_text(unit * (50_000 // len(unit)))
        assert time.process_time() - started < 2.0


class TestRegisteredSecrets:
    @pytest.fixture(autouse=True)
    def _forget(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("shared.redaction._registered", {})

    @pytest.mark.parametrize(
        "spell",
        [str, json.dumps, lambda text: base64.b64encode(text.encode()).decode(), lambda text: f"a{text}b"],
        ids=["as it is", "in JSON", "in base64", "inside a text"],
    )
    def test_they_are_redacted_in_every_spelling(self, spell: Callable[[str], str]) -> None:
        secret = 'quo"ted\nand ünusual'
        register_secret(secret)
        shown = redact_text(f"<{spell(secret)}>")
        assert REDACTED in shown
        assert spell(secret).strip('"') not in shown

    @pytest.mark.parametrize(
        ("secret", "text"), [("token", "pull token=s3cret failed"), ("db.token", "db.token: s3cret")]
    )
    def test_a_secret_that_is_a_name_too_does_not_show_the_value_behind_it(self, secret: str, text: str) -> None:
        register_secret(secret)

        assert "s3cret" not in redact_text(text)
        assert secret not in redact_text(text)

    def test_the_end_of_a_line_is_not_part_of_them(self) -> None:
        register_secret("hunter2\n")
        assert redact_text("user:hunter2@") == f"user:{REDACTED}@"

    @pytest.mark.parametrize("short", ["", "\n", "a", "true"])
    def test_what_occurs_by_chance_is_left(self, short: str) -> None:
        register_secret(short)
        assert redact_text("is it true, after all") == "is it true, after all"

    def test_only_the_latest_are_remembered(self) -> None:
        for number in range(5000):
            register_secret(f"value-{number:05}")
        assert redact_text("value-04999 value-00000") == f"{REDACTED} value-00000"


@pytest.mark.parametrize("text", ["https:/admin:{}@host/x", "/tmp/https:/admin:{}@host", "grpc:///admin:{}@host"])
def test_a_url_that_was_made_a_path_hides_its_user_too(text: str) -> None:
    assert "s3cr3t" not in redact_text(text.format("s3cr3t"))
