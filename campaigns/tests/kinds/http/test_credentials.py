"""The kind `http` with a credential, at a real nginx that wants a certificate, a password or a token."""

from dataclasses import replace

import pytest

from campaigns.kinds.base import Credential, CredentialRefused, Target
from campaigns.kinds.http.driver import driver
from campaigns.kinds.http.program.reading import read_scenario
from campaigns.kinds.http.running import signed_in, try_one_host
from campaigns.kit.http.credentials import Tls
from campaigns.kit.network import origin_of, parse_rules
from campaigns.tests.kinds.guarded_server import PASSWORD, TOKEN, USER, guarded
from campaigns.tests.kinds.http.conftest import parameters
from campaigns.tests.kinds.http.test_driver import run

__all__ = ["guarded"]

pytestmark = pytest.mark.e2e
STEPS = """\
steps:
  - {name: read, get: %s, expect: {status: 200}}
  - {name: again, get: %s, headers: {X-Other: "{host}"}, expect: {status: 200}}
"""


def target_of(url, guarded, **values):
    """A target whose team has the credential cdn for it."""
    login = Credential("cdn", ca=guarded.ca, places=(origin_of(url),), **values)

    def credential_of(name, urls):
        if not all(login.covers(each) for each in urls):
            raise CredentialRefused("not there")
        return login

    return Target("web", "http", url, credential_of=credential_of)


def steps(path):
    return STEPS % (path, path)


LOGINS = {
    "password": ("/feed/file-1", {"username": USER, "password": PASSWORD}),
    "token": ("/token/file-1", {"token": TOKEN}),
}


@pytest.mark.parametrize("what", sorted(LOGINS))
def test_each_request_of_a_load_is_signed_in(guarded, keeper, what):
    path, login = LOGINS[what]
    target = target_of(guarded.private, guarded, **login)

    measured, proofs = run(target, keeper, parameters(steps(path), credential="cdn"))

    assert measured.failures == {}
    assert all(proof.ok for proof in proofs)
    assert measured.units_done == 12


def test_the_plain_way_of_one_request_is_signed_in_too(guarded, keeper):
    target = target_of(guarded.private, guarded, token=TOKEN)
    one = "steps: [{name: read, get: /token/file-1}]"

    measured, _ = run(target, keeper, parameters(one, credential="cdn"))

    assert (measured.failures, measured.units_done) == ({}, 6)


def test_a_load_has_the_client_certificate(guarded, keeper):
    certificate, key = guarded.authority.identity("loader")
    target = target_of(guarded.entitled, guarded, certificate=certificate, key=key)
    before = len(guarded.asked())

    measured, _ = run(target, keeper, parameters(steps("/feed/file-1"), credential="cdn"))

    assert measured.failures == {}
    assert all('"CN=loader"' in line for line in guarded.asked_since(before))
    assert not keeper.directory.exists()


def test_while_a_load_is_on_no_file_of_the_attempt_holds_a_secret(guarded, keeper):
    certificate, key = guarded.authority.identity("loader")
    target = target_of(guarded.entitled, guarded, certificate=certificate, key=key, token=TOKEN)
    found: list[str] = []

    def look(progress):
        keeper.progress.append(progress)
        found.extend(path.read_text() for path in keeper.directory.rglob("*") if path.is_file())

    context = replace(keeper.context(), progress=look)
    values = parameters(
        steps("/feed/file-1"), credential="cdn", iterations=None, duration_seconds=2.0
    )
    driver.reset(target, values, context)
    driver.measure(target, values, context)

    assert found
    assert not [text for text in found if TOKEN in text or key.splitlines()[1] in text]
    driver.clean_up(target, values, context)


def test_a_wrong_password_fails_requests_and_is_quoted_nowhere(guarded, keeper):
    login = {"username": USER, "password": "wrong-sentinel"}
    target = target_of(guarded.private, guarded, **login)

    measured, proofs = run(target, keeper, parameters(steps("/feed/file-1"), credential="cdn"))

    assert measured.failures
    assert "wrong-sentinel" not in repr((measured, proofs, keeper.lines, keeper.progress))


def test_what_a_credential_does_not_have_is_the_targets_own():
    login = Credential("cdn", places=("https://web.example:443",), token=TOKEN)
    target = Target(
        "web", "http", "https://web.example/", username="own", password="own-password",  # noqa: S106
        tls=Tls(certificate="own", key="own-key"), credential_of=lambda name, urls: login,
    )  # fmt: skip

    signed = signed_in(target, {"credential": "cdn"})

    assert (signed.username, signed.password, signed.token, signed.signs_in) == (
        "",
        "",
        TOKEN,
        True,
    )
    assert (signed.tls.certificate, signed.tls.key) == ("own", "own-key")
    assert signed_in(target, {"credential": ""}) is target
    assert TOKEN not in repr(signed)


def test_a_try_shows_no_answer_to_a_token(guarded):
    target = signed_in(target_of(guarded.private, guarded, token=TOKEN), {"credential": "cdn"})

    walked = try_one_host(
        target, read_scenario(steps("/token/file-1")), parse_rules("127.0.0.1:*"), None
    )

    assert walked.failed is None
    assert all(each.withheld for each in walked.exchanges)
    assert TOKEN not in repr(walked)
