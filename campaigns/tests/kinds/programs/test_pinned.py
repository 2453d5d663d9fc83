"""A program that cannot check addresses runs on a pinned one only; tried with the real curl."""

import shutil
import socket
import subprocess

import pytest

from campaigns.kinds.programs.pinned import pin
from campaigns.kit.network import BadUrl, Refused, parse_rules
from campaigns.tests.kinds.programs.servers import asked_head, behaving

RULES = parse_rules("127.0.0.1:*")
CURL = shutil.which("curl")


class Names:
    """A name service that answers otherwise from the second time on."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, host: str, port: int) -> list[str]:
        self.asked += 1
        return self.answers[min(self.asked, len(self.answers)) - 1]


def test_a_name_is_resolved_once_and_the_first_allowed_address_is_taken():
    names = Names(["127.0.0.2", "::ffff:127.0.0.1"], ["127.0.0.2"])

    pinned = pin("http://Pulp.Example:8080/a?b", RULES, names)

    assert (pinned.address, pinned.host, pinned.port) == ("127.0.0.1", "pulp.example", 8080)
    assert pinned.url_of_address == "http://127.0.0.1:8080/a?b"
    assert pinned.host_header == "pulp.example:8080"
    assert names.asked == 1


def test_an_address_of_version_six_keeps_its_brackets_where_they_belong():
    pinned = pin("https://pulp.example/a", parse_rules("[fd12::1]:443"), Names(["fd12::1"]))

    assert pinned.address == "fd12::1"
    assert pinned.url_of_address == "https://[fd12::1]/a"
    assert pinned.host_header == "pulp.example"
    assert "::[fd12::1]:443" in pinned.curl()


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://127.0.0.2/", Refused),
        ("http://pulp.example/", Refused),
        ("http://[::ffff:127.0.0.2]/", Refused),
        ("http://2130706433/", BadUrl),
        ("http://a@127.0.0.1/", BadUrl),
        ("file:///etc/passwd", BadUrl),
        ("http+unix://%2Frun%2Fsocket/", BadUrl),
        ("-o/tmp/x", BadUrl),
    ],
)
def test_what_the_rules_exclude_is_not_pinned(url, error):
    with pytest.raises(error):
        pin(url, RULES, Names(["127.0.0.2", "169.254.169.254"]))


def test_a_name_without_an_address_is_refused():
    with pytest.raises(Refused, match="has no address"):
        pin("http://pulp.example/", RULES, Names([]))


@pytest.mark.system
@pytest.mark.skipif(CURL is None, reason="curl is not installed")
def test_curl_connects_to_the_pinned_address_whatever_tempts_it(tmp_path):
    heads: list[bytes] = []
    away: list[str] = []

    def allowed(connection: socket.socket) -> None:
        heads.append(asked_head(connection))
        connection.sendall(
            f"HTTP/1.1 302 Found\r\nLocation: http://{away[0]}/\r\nContent-Length: 0\r\n\r\n".encode()
        )

    def forbidden(connection: socket.socket) -> None:
        connection.recv(65536)

    with behaving(allowed) as (place, _), behaving(forbidden, "127.0.0.2") as (other, touched):
        away.append(other)
        port = int(place.rpartition(":")[2])
        (tmp_path / ".curlrc").write_text(
            f'proxy = "http://{other}"\nlocation\nnetrc\nuser-agent = "curlrc"\n'
            f'resolve = "pulp.invalid:{port}:127.0.0.2"\n'
        )
        (tmp_path / ".netrc").write_text("default login me password planted-secret\n")
        proxies = dict.fromkeys(
            ("http_proxy", "https_proxy", "ALL_PROXY", "all_proxy"), f"http://{other}"
        )
        pinned = pin(f"http://pulp.invalid:{port}/[a]/../b", RULES, Names(["127.0.0.1"]))
        done = subprocess.run(
            [str(CURL), *pinned.curl(), "--silent", "--show-error", "--max-time", "5"],
            env={"HOME": str(tmp_path), "CURL_HOME": str(tmp_path)} | proxies,
            capture_output=True,
            check=False,
        )

    assert done.returncode == 0, done.stderr
    assert touched == []
    assert len(heads) == 1
    assert heads[0].startswith(b"GET /[a]/../b HTTP/1.1\r\n")
    assert f"Host: pulp.invalid:{port}\r\n".encode() in heads[0]
    assert b"curlrc" not in heads[0]
    assert b"Authorization" not in heads[0]


@pytest.mark.system
@pytest.mark.skipif(CURL is None, reason="curl is not installed")
def test_without_the_pin_the_same_things_do_tempt_curl(tmp_path):
    """The test above could not fail otherwise."""

    def forbidden(connection: socket.socket) -> None:
        connection.recv(65536)

    with behaving(forbidden, "127.0.0.2") as (other, touched):
        (tmp_path / ".curlrc").write_text(f'proxy = "http://{other}"\n')
        subprocess.run(
            [str(CURL), "--silent", "--max-time", "5", "http://pulp.invalid/"],
            env={"HOME": str(tmp_path)},
            capture_output=True,
            check=False,
        )

    assert touched
