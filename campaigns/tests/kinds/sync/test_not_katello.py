"""What is told where a target's URL leads to something that is no Katello, or to one that is broken."""

import ssl

import pytest

from campaigns.kinds.base import DriverError, Target, TargetUnavailable
from campaigns.kinds.sync.driver import driver
from campaigns.kit.http.credentials import Tls
from campaigns.tests.kinds.programs.certificates import Authority
from campaigns.tests.kinds.programs.servers import behaving, server
from campaigns.tests.kinds.sync.suite import RULES, Place
from campaigns.tests.kinds.sync.test_not_pulp import HTML, JSON

PARAMETERS = {"repository_ids": "3", "optimize": "off", "repeat": "unchanged", "proxy": None}


@pytest.mark.parametrize(
    ("answer", "probed", "run"),
    [
        (HTML % b"200 OK", r"200 with text/html instead of JSON", r"200 with text/html"),
        (HTML % b"404 Not Found", r"this Foreman has no Katello", r"no Foreman, or not its base"),
        (HTML % b"500 Internal Server Error", r"Katello answered 500 ", r"Katello answered 500 "),
        (HTML % b"503 Service Unavailable", r"Katello answered 503 ", r"Katello answered 503 "),
        (
            HTML % b"302 Found\r\nLocation: /users/login",
            r"no Katello, or not its base",
            r"no Foreman, or not its",
        ),
        (JSON, r"names no version", r"names no version"),
        (b"", r"got no answer.* Check that the server runs", r"got no answer"),
    ],
    ids=["a page", "404", "500", "503", "redirect", "other JSON", "nothing"],
)
def test_what_is_no_katello_is_told_in_words(tmp_path, answer, probed, run):
    with server(None, any=answer) as url:
        target = Target("none", "katello", url.rpartition("/")[0], "admin", "password")
        with pytest.raises(DriverError, match=probed) as raised:
            driver.probe(target, RULES)
        assert "<h1>" not in str(raised.value)
        with pytest.raises(DriverError, match=run):
            Place(target, tmp_path).reset(PARAMETERS)


def test_a_certificate_of_an_unknown_authority_is_told(tmp_path):
    ours, theirs = (Authority(tmp_path, name) for name in ("ours", "theirs"))

    def answer(connection):
        try:
            theirs.context().wrap_socket(connection, server_side=True).close()
        except ssl.SSLError:
            return

    with behaving(answer) as (place, _):
        tls = Tls(ca_bundle=ours.file.read_text())
        target = Target("wrong CA", "katello", f"https://{place}", "admin", "password", tls=tls)
        with pytest.raises(
            TargetUnavailable, match="certificate is not trusted: give its CA bundle"
        ):
            driver.probe(target, RULES)
