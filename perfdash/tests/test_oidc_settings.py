"""Which provider lets people in: read from the environment, and refused where it is not safe."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from perfdash import oidc

GOOD = {"PERFDASH_OIDC_ISSUER": "https://login.example/staff/", "PERFDASH_OIDC_CLIENT_ID": "us"}


@pytest.fixture
def variables(monkeypatch):
    def put(**changes):
        for name, value in (GOOD | changes).items():
            monkeypatch.setenv(name, value)

    return put


def provider() -> oidc.Provider:
    result = oidc.provider()
    assert result is not None
    return result


def test_nothing_is_there_unless_somebody_says_so():
    assert oidc.provider() is None


def test_what_is_not_said_is_the_careful_choice(variables):
    variables()

    result = provider()

    assert (result.issuer, result.name) == ("https://login.example/staff", "login.example")
    assert (result.everybody, result.trusts_email, result.team) == (False, False, "")
    assert result.roles == ("viewer",)
    assert result.seconds == 5


def test_empty_variables_as_a_compose_file_passes_them_on_are_no_settings(variables):
    names = ("CLIENT_SECRET", "NAME", "SIGN_UP", "TEAM", "ROLES", "TRUST_EMAIL", "SECONDS")
    variables()
    usual = provider()
    variables(**{f"PERFDASH_OIDC_{name}": "" for name in names})

    assert provider() == usual


def test_the_secret_is_never_shown(variables):
    variables(PERFDASH_OIDC_CLIENT_SECRET="hush hush")  # noqa: S106

    assert provider().client_secret == "hush hush"  # noqa: S105
    assert "hush" not in repr(provider())


@pytest.mark.parametrize(
    "issuer", ["http://127.0.0.1:8080/o", "http://localhost", "http://[::1]:1"]
)
def test_one_on_this_machine_may_do_without_tls(variables, issuer):
    variables(PERFDASH_OIDC_ISSUER=issuer)

    assert provider().encrypted is False


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PERFDASH_OIDC_CLIENT_ID", ""),
        ("PERFDASH_OIDC_ISSUER", ""),
        ("PERFDASH_OIDC_ISSUER", "http://login.example"),
        ("PERFDASH_OIDC_ISSUER", "login.example"),
        ("PERFDASH_OIDC_ISSUER", "https://"),
        ("PERFDASH_OIDC_ISSUER", "https://name:word@login.example"),
        ("PERFDASH_OIDC_ISSUER", "https://login.example?x=1"),
        ("PERFDASH_OIDC_ISSUER", "https://login.example:port"),
        ("PERFDASH_OIDC_ISSUER", "https://login.example/" + "x" * 200),
        ("PERFDASH_OIDC_SIGN_UP", "all"),
        ("PERFDASH_OIDC_ROLES", "viewer admin"),
        ("PERFDASH_OIDC_TRUST_EMAIL", "yes"),
        ("PERFDASH_OIDC_SECONDS", "0"),
    ],
)
def test_what_will_not_do_stops_the_start_and_is_named(variables, name, value):
    variables(**{name: value})

    with pytest.raises(ImproperlyConfigured, match=name):
        oidc.provider()
