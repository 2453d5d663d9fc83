"""Syncs from feeds that ask for a certificate, a password or a token, on the simulated and on a real Pulp; see suite.py.

A module that imports these tests gives the fixtures `pulp` and `guarded`.
"""

from dataclasses import replace

import pytest

from campaigns.kinds.base import Credential, CredentialRefused
from campaigns.kinds.sync.driver import driver
from campaigns.kit.network import origin_of
from campaigns.tests.kinds.guarded_server import FILES, PASSWORD, TOKEN, USER
from campaigns.tests.kinds.sync.suite import RULES, good, parameters

MANIFEST = "/feed/PULP_MANIFEST"


def credential(pulp, guarded, **values):
    """A credential for the feeds and the Pulp."""
    places = (guarded.entitled, guarded.private, pulp.target.base_url)
    return Credential(
        **({"name": "cdn", "ca": guarded.ca, "places": tuple(map(origin_of, places))} | values)
    )


def with_certificate(pulp, guarded, **values):
    certificate, key = guarded.authority.identity("entitled")
    return credential(pulp, guarded, certificate=certificate, key=key, **values)


def knowing(pulp, *known):
    """Let the target's team have these credentials."""
    named = {each.name: each for each in known}

    def credential_of(name, urls):
        assert all(named[name].covers(url) for url in urls), urls
        return named[name]

    pulp.target = replace(pulp.target, credential_of=credential_of)
    return pulp


def in_force(settings):
    return next(each for each in settings if each.name == "credential")


def test_a_feed_that_wants_a_certificate_is_synced_and_proved(pulp, guarded):
    knowing(pulp, with_certificate(pulp, guarded))
    values = parameters(guarded.entitled + MANIFEST, credential="cdn")
    driver.look(pulp.target, values, RULES)
    before = len(guarded.asked())

    measured, proofs = pulp.run(values)

    assert not measured.failure
    assert good(proofs), proofs
    assert measured.values["file_rate"] > 0
    assert len(guarded.asked_since(before, FILES, "file-")) == FILES
    assert all('"CN=entitled"' in line for line in guarded.asked()[before:] if " 200 " in line)


def test_what_pulp_has_of_it_is_read_back_and_gone_after_the_run(pulp, guarded):
    login = with_certificate(pulp, guarded)
    knowing(pulp, login)
    values = parameters(guarded.entitled + MANIFEST, credential="cdn")
    pulp.reset(values)

    setting = in_force(pulp.apply(values))

    assert (setting.asked, setting.ok) == ("client_cert, client_key, ca_cert", True)
    assert login.key not in repr(setting)
    pulp.measure(values)
    driver.clean_up(pulp.target, values, pulp.context())
    client = pulp.client()
    for _ in range(50):
        if not client.count("remotes/"):
            break
        client.rest(5)
    assert client.count("remotes/") == 0


@pytest.mark.parametrize("path", ["/feed/PULP_MANIFEST", "/token/PULP_MANIFEST"])
def test_a_feed_that_wants_a_password_or_a_token_is_synced(pulp, guarded, path):
    login = {"token": TOKEN} if "token" in path else {"username": USER, "password": PASSWORD}
    knowing(pulp, credential(pulp, guarded, **login))
    values = parameters(guarded.private + path, credential="cdn")
    driver.look(pulp.target, values, RULES)

    measured, proofs = pulp.run(values)

    assert not measured.failure
    assert good(proofs), proofs


WRONG = {
    "password": {"username": USER, "password": "wrong-sentinel"},
    "token": {"token": "wrong-sentinel"},
}


@pytest.mark.parametrize(
    ("what", "path"), [("password", "/feed/PULP_MANIFEST"), ("token", "/token/PULP_MANIFEST")]
)
def test_a_wrong_login_is_told_in_the_feeds_words_before_and_in_a_run(pulp, guarded, what, path):
    knowing(pulp, credential(pulp, guarded, **WRONG[what]))
    values = parameters(guarded.private + path, credential="cdn")
    words = r"answered 401: “401 Authorization Required.*does not take the credential “cdn” \(version 1\)"

    with pytest.raises(CredentialRefused, match=words):
        driver.look(pulp.target, values, RULES)
    with pytest.raises(CredentialRefused, match=words) as refused:
        pulp.run(values)

    assert refused.value.void
    assert "wrong-sentinel" not in str(refused.value)


def test_a_wrong_login_is_refused_for_good_in_the_first_of_two_syncs(pulp, guarded):
    knowing(pulp, credential(pulp, guarded, **WRONG["password"]))
    values = parameters(
        guarded.private + "/feed/PULP_MANIFEST", credential="cdn", repeat="unchanged"
    )

    with pytest.raises(CredentialRefused, match="does not take the credential “cdn”") as refused:
        pulp.run(values)

    assert refused.value.lasting
    assert str(refused.value).count("Authorization Required") == 1


def test_a_certificate_of_another_authority_is_told_in_the_feeds_words(pulp, guarded, tmp_path):
    certificate, key = type(guarded.authority)(tmp_path, "others").identity("stranger")
    knowing(pulp, credential(pulp, guarded, certificate=certificate, key=key))
    values = parameters(guarded.entitled + MANIFEST, credential="cdn")

    with pytest.raises(CredentialRefused, match="400 The SSL certificate error"):
        driver.look(pulp.target, values, RULES)
    with pytest.raises(CredentialRefused, match="400 The SSL certificate error"):
        pulp.run(values)


def test_a_feed_that_asks_for_a_login_says_to_name_a_credential(pulp, guarded):
    knowing(pulp, Credential("cdn", ca=guarded.ca, places=(guarded.entitled, pulp.target.base_url)))
    values = parameters(guarded.entitled + MANIFEST, credential="cdn")

    with pytest.raises(CredentialRefused, match="400 No required SSL certificate was sent"):
        driver.look(pulp.target, values, RULES)
    private = parameters(guarded.private + MANIFEST, remote_fields='{"tls_validation": false}')
    driver.look(
        pulp.target, private, RULES
    )  # its certificate is not trusted from here: the run tells


def test_a_server_whose_ca_is_not_known_is_told(pulp, guarded):
    knowing(pulp, replace(with_certificate(pulp, guarded), ca=""))
    values = parameters(guarded.entitled + MANIFEST, credential="cdn")

    with pytest.raises(CredentialRefused, match="Check certificate and CA of the credential “cdn”"):
        driver.look(pulp.target, values, RULES)
