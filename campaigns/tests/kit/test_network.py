# ruff: noqa: S104 - addresses are judged here, none is bound
import json

import pytest

from campaigns.kit.network import (
    BadRule,
    BadUrl,
    NetworkError,
    Refused,
    Rules,
    check_url,
    is_local,
    normalised_address,
    parse_rules,
    parse_url,
    unwrapped,
)

EVERYTHING = parse_rules("*:*")


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("127.0.0.1:8099", ["127.0.0.1:8099"]),
        ("10.0.0.0/8:443,8080-8090", ["10.0.0.0/8:443,8080-8090"]),
        ("a.example:1, b.example:2,3", ["a.example:1", "b.example:2,3"]),
        ("127.0.0.1:80\n\n# note\n*:443 # all", ["127.0.0.1:80", "*:443"]),
        ("[fd12::]/16:80,[::1]:*", ["[fd12::]/16:80", "[::1]:*"]),
        ("[fd12::/16]:80", ["[fd12::]/16:80"]),
        ("[::ffff:10.0.0.1]:80", ["10.0.0.1:80"]),
        ("Pulp.Example.:443,*", ["pulp.example:443,1-65535"]),
        ("*.example:8-9", ["*.example:8-9"]),
        ("", []),
    ],
)
def test_rules_are_read_from_lines_and_commas(text, rules):
    assert [str(rule) for rule in parse_rules(text).allowed] == rules


@pytest.mark.parametrize(
    "text",
    [
        "pulp.example",
        "pulp.example:",
        "::1:80",
        "[::1]",
        "80,a.example:1",
        "10.0.0.1/8:80",
        "1.2.3:80",
        "0177.0.0.1:80",
        "a.example:0",
        "a.example:70000",
        "a.example:9-8",
        "a.example:1,x",
        "a b:80",
        "a*:80",
        "user@a.example:80",
    ],
)
def test_a_rule_that_cannot_be_read_is_quoted(text):
    with pytest.raises(BadRule) as caught:
        parse_rules(text)

    assert any(part.strip() in str(caught.value) for part in text.split(","))


def test_rules_survive_the_pipe():
    rules = parse_rules(
        "10.0.0.0/8:443,8080-8090, a.example:*, [fd12::]/16:80", [("0.0.0.0", 5432)], "the owner"
    )

    assert Rules.from_json(json.loads(json.dumps(rules.to_json()))) == rules


@pytest.mark.parametrize(
    ("rules", "address", "port", "host"),
    [
        ("127.0.0.1:8099", "127.0.0.1", 8099, "sandbox"),
        ("10.0.0.0/8:443", "10.9.8.7", 443, ""),
        ("10.0.0.0/8:443", "::ffff:10.9.8.7", 443, ""),
        ("pulp.example:443", "203.0.113.9", 443, "PULP.example."),
        ("*.example:443", "203.0.113.9", 443, "a.b.example"),
        ("*:80-90", "203.0.113.9", 85, "x"),
        ("[fd12::]/16:80", "fd12::1", 80, ""),
    ],
)
def test_an_address_under_a_rule_is_allowed(rules, address, port, host):
    parse_rules(rules).check(address, port, host)


@pytest.mark.parametrize(
    ("rules", "address", "port", "host"),
    [
        ("127.0.0.1:8099", "127.0.0.1", 8098, ""),
        ("127.0.0.1:8099", "127.0.0.2", 8099, "127.0.0.1"),
        ("10.0.0.0/8:443", "11.0.0.1", 443, ""),
        ("pulp.example:443", "203.0.113.9", 443, "evil.example"),
        ("*.example:443", "203.0.113.9", 443, "example"),
        ("", "203.0.113.9", 443, ""),
    ],
)
def test_a_refusal_names_address_and_setting(rules, address, port, host):
    with pytest.raises(Refused) as caught:
        parse_rules(rules).check(address, port, host)

    assert f"{address} port {port}" in str(caught.value)
    assert "PERFDASH_ALLOWED_ADDRESSES" in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "169.254.0.7",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "ff02::1",
        "fd00:ec2::254",
        "fd20:ce::254",
        "::ffff:169.254.169.254",
        "::169.254.169.254",
        "2002:a9fe:a9fe::1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::a9fe:a9fe",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    ],
)
def test_some_addresses_are_refused_whatever_the_rules_say(address):
    with pytest.raises(Refused, match="never"):
        EVERYTHING.check(address, 80, "pulp.example")


@pytest.mark.parametrize(
    ("service", "address", "host"),
    [
        ("127.0.0.1", "127.0.0.1", ""),
        ("0.0.0.0", "127.8.8.8", ""),
        ("::", "::1", ""),
        ("localhost", "127.0.0.1", "sandbox.example"),
        ("10.0.0.0/24", "::ffff:10.0.0.9", ""),
        ("db.example", "203.0.113.9", "DB.example"),
    ],
)
def test_services_of_perfdash_itself_are_refused(service, address, host):
    rules = parse_rules("*:*", own_services=[(service, 5432)])

    with pytest.raises(Refused, match="service of perfdash"):
        rules.check(address, 5432, host)
    rules.check(address, 5433, host)


def test_the_owner_can_add_an_address():
    rules = parse_rules("127.0.0.1:8099", own_services=[("127.0.0.1", 9000)])

    wider = rules.allowing("127.0.0.2:80")

    wider.check("127.0.0.2", 80)
    with pytest.raises(Refused):
        wider.check("127.0.0.1", 9000)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example/",
        "file:///etc/passwd",
        "unix:///run/docker.sock",
        "http://user:secret@a.example/",
        "http://a.example@b.example/",
        "http://",
        "http:///path",
        "http://a.example:0/",
        "http://a.example:99999/",
        "http://a.example:x/",
        "http://127.1/",
        "http://2130706433/",
        "http://0177.0.0.1/",
        "http://0x7f.0.0.1/",
        "http://0x7f000001/",
        "http://1.2.3.4.5/",
        "http://[::1%25eth0]/",
        "http://[localhost]/",
        "http://[::1/",
        "http://ex ample/",
        "http://a.example\\@b.example/",
        "http://a.example/\r\nHost: b",
        "http://a.example/\x7f",
        "http://a.example/\u202e",
        "http://ex\u00e4mple/",
        "http://-a.example/",
        "http://a.example/" + "x" * 2000,
    ],
)
def test_a_url_that_programs_may_read_in_two_ways_is_refused(url):
    with pytest.raises(BadUrl) as caught:
        parse_url(url)

    assert "secret" not in str(caught.value)


def test_a_url_is_checked_before_anything_is_resolved():
    rules = parse_rules("127.0.0.1:8099, pulp.example:443")

    assert check_url("https://pulp.example/x", rules).port == 443
    assert check_url("http://127.0.0.1:8099/", rules).host == "127.0.0.1"
    assert check_url("http://any.example:8099/", rules).address is None
    for url in ("http://127.0.0.2:8099/", "https://other.example/", "http://pulp.example/"):
        with pytest.raises(Refused):
            check_url(url, rules)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("HTTP://Pulp.Example/some/path?x", "pulp.example:80"),
        ("https://pulp.example.", "pulp.example:443"),
        ("https://pulp.example:443/", "pulp.example:443"),
        ("http://127.0.0.1:8099/", "127.0.0.1:8099"),
        ("http://localhost:8099/", "127.0.0.1:8099"),
        ("http://[::1]:8099/", "127.0.0.1:8099"),
        ("http://[::ffff:10.0.0.1]/", "10.0.0.1:80"),
        ("http://[FD12:0:0:0:0:0:0:1]/", "[fd12::1]:80"),
    ],
)
def test_two_ways_to_write_one_server_give_one_address(url, address):
    assert normalised_address(url) == address


def test_loopback_and_private_addresses_are_told_from_public_ones():
    assert is_local("127.0.0.2")
    assert is_local("::ffff:192.168.1.1")
    assert not is_local("8.8.8.8")


def test_what_is_no_address_is_said_so():
    with pytest.raises(NetworkError, match="not an IP address"):
        unwrapped("pulp.example")
