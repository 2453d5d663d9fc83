import traceback

import pytest
from django.core.exceptions import ImproperlyConfigured

from perfdash import environment


@pytest.mark.parametrize("value", ["true", "1", "yes", "TRUE", " True"])
def test_a_boolean_that_is_neither_true_nor_false_stops_the_start(monkeypatch, value):
    monkeypatch.setenv("DEBUG", value)

    with pytest.raises(ImproperlyConfigured, match=r"DEBUG is .*write True, False"):
        environment.boolean("DEBUG", False)


def test_an_empty_boolean_is_the_default(monkeypatch):
    monkeypatch.setenv("DEBUG", "")

    assert environment.boolean("DEBUG", True) is True
    assert environment.boolean("DEBUG", False) is False


@pytest.mark.parametrize("value", ["soon", "0", "-1", "nan", "inf", "1,5"])
def test_seconds_are_a_positive_number(monkeypatch, value):
    monkeypatch.setenv("LEASE_SECONDS", value)

    with pytest.raises(ImproperlyConfigured, match="LEASE_SECONDS is"):
        environment.seconds("LEASE_SECONDS", 30)


def test_a_secret_comes_from_its_file_without_the_last_newline(monkeypatch, tmp_path):
    (tmp_path / "key").write_text("from the file\n")
    monkeypatch.delenv("SECRET_KEY", raising=False)
    monkeypatch.setenv("SECRET_KEY_FILE", str(tmp_path / "key"))

    assert environment.secret("SECRET_KEY") == "from the file"


def test_a_secret_in_place_of_its_file_stops_the_start_and_is_not_repeated(monkeypatch):
    monkeypatch.delenv("SECRET_KEY", raising=False)
    monkeypatch.setenv("SECRET_KEY_FILE", "the-secret-itself")

    with pytest.raises(ImproperlyConfigured) as caught:
        environment.secret("SECRET_KEY")

    text = "".join(traceback.format_exception(caught.value))
    assert "SECRET_KEY_FILE names a file that cannot be read: No such file" in text
    assert "the-secret-itself" not in text


def test_an_empty_secret_file_stops_the_start(monkeypatch, tmp_path):
    (tmp_path / "key").write_text("\n")
    monkeypatch.delenv("SECRET_KEY", raising=False)
    monkeypatch.setenv("SECRET_KEY_FILE", str(tmp_path / "key"))

    with pytest.raises(ImproperlyConfigured, match="is empty"):
        environment.secret("SECRET_KEY")


def test_a_secret_given_twice_stops_the_start(monkeypatch, tmp_path):
    monkeypatch.setenv("SECRET_KEY", "one")
    monkeypatch.setenv("SECRET_KEY_FILE", str(tmp_path / "key"))

    with pytest.raises(ImproperlyConfigured, match="both set"):
        environment.secret("SECRET_KEY")


def test_an_empty_file_of_what_nobody_has_to_set_is_no_secret(monkeypatch, tmp_path):
    (tmp_path / "token").write_text("\n")
    monkeypatch.setenv("PERFDASH_METRICS_TOKEN_FILE", str(tmp_path / "token"))

    assert environment.secret("PERFDASH_METRICS_TOKEN") == ""


def test_a_server_names_all_that_is_missing(monkeypatch):
    for name in environment.REQUIRED:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(f"{name}_FILE", raising=False)
    monkeypatch.setenv("BROKER_URL", "redis://127.0.0.1/0")

    with pytest.raises(ImproperlyConfigured) as caught:
        environment.refuse_missing(environment.REQUIRED)

    assert "DATABASE_URL, PERFDASH_ENCRYPTION_KEYS" in str(caught.value)
    assert "BROKER_URL" not in str(caught.value)
