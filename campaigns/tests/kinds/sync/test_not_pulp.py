"""What is told where a target's URL leads to something that is no Pulp, or to one that is broken."""

import ssl
from contextlib import suppress

import pytest

from campaigns.kinds.base import DriverError, Target, TargetUnavailable
from campaigns.kinds.sync.driver import driver
from campaigns.kit.http.credentials import Tls
from campaigns.tests.kinds.programs.certificates import Authority
from campaigns.tests.kinds.programs.servers import behaving, server
from campaigns.tests.kinds.sync.suite import RULES, Place

HTML = b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<h1>Oh, a page</h1>"
JSON = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{"a": 1}'


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (HTML % b"200 OK", r"200 with text/html.* Check the target's base URL"),
        (HTML % b"404 Not Found", r"no Pulp 3, or not its base URL"),
        (HTML % b"403 Forbidden", r"no Pulp 3, or not its base URL"),
        (HTML % b"500 Internal Server Error", r"Pulp answered 500 .*logs of its API"),
        (HTML % b"503 Service Unavailable", r"Pulp answered 503 .*logs of its API"),
        (HTML % b"301 Moved\r\nLocation: /other/", r"no Pulp 3, or not its base URL"),
        (JSON, r"not with Pulp's status"),
        (b"", r"got no answer.* Check that the server runs"),
    ],
    ids=["a page", "404", "403", "500", "503", "redirect", "other JSON", "nothing"],
)
def test_what_is_no_pulp_is_told_in_words(tmp_path, answer, words):
    with server(None, any=answer) as url:
        target = Target("none", "pulp", url.rpartition("/")[0], "admin", "password", dedicated=True)
        for step in (
            lambda: driver.probe(target, RULES),
            lambda: Place(target, tmp_path).reset({}),
        ):
            with pytest.raises(DriverError, match=words) as raised:
                step()
            assert raised.value.void
            assert "<h1>" not in str(raised.value)


def test_a_server_of_files_is_no_pulp(tmp_path, sandbox):
    target = Target("none", "pulp", sandbox.base_url, "admin", "password", dedicated=True)

    with pytest.raises(DriverError, match="no Pulp 3, or not its base URL"):
        driver.probe(target, RULES)
    with pytest.raises(DriverError, match="no Pulp 3, or not its base URL"):
        Place(target, tmp_path).reset({})


def test_a_front_that_wants_a_client_certificate_is_told(tmp_path):
    authority = Authority(tmp_path, "ours")
    context = authority.context()
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority.file)

    def refuse(connection):
        with suppress(ssl.SSLError):
            context.wrap_socket(connection, server_side=True).close()

    with behaving(refuse) as (place, _):
        tls = Tls(ca_bundle=authority.file.read_text())
        target = Target("front", "pulp", f"https://{place}", "admin", "password", tls=tls)
        with pytest.raises(TargetUnavailable, match="wants a client certificate"):
            driver.probe(target, RULES)
