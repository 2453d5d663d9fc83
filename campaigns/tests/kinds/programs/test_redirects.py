"""Where a redirect may lead. No network."""

import pytest

from campaigns.kinds.programs.downloading import MOST_REDIRECTS, next_url
from campaigns.kit.http.failures import FileFailed
from campaigns.kit.network import parse_rules

RULES = parse_rules("127.0.0.1:*, 127.0.0.2:*, files.example:*, *.example:*")
HERE = "http://127.0.0.1:8099/a/b"


@pytest.mark.parametrize(
    ("location", "leads_to"),
    [
        (b"c", "http://127.0.0.1:8099/a/c"),
        (b"/x?y=1", "http://127.0.0.1:8099/x?y=1"),
        (b"http://127.0.0.1:8099/z", "http://127.0.0.1:8099/z"),
        (b"//127.0.0.1:8099/z", "http://127.0.0.1:8099/z"),
    ],
)
def test_a_redirect_on_the_same_server_is_followed(location, leads_to):
    assert next_url(HERE, location, RULES, 0) == leads_to


@pytest.mark.parametrize(
    ("location", "failure"),
    [
        (b"http://127.0.0.2:8099/z", "address"),
        (b"http://127.0.0.1:8098/z", "address"),
        (b"//files.example:8099/z", "address"),
        (b"http://10.0.0.1:8099/z", "address"),
        (b"http://169.254.169.254/", "address"),
        (b"ftp://127.0.0.1:8099/z", "protocol"),
        (b"", "protocol"),
    ],
)
def test_a_redirect_that_leads_elsewhere_fails_its_file(location, failure):
    with pytest.raises(FileFailed) as caught:
        next_url(HERE, location, RULES, 0)

    assert caught.value.failure == failure


def test_redirects_without_an_end_are_not_followed():
    with pytest.raises(FileFailed, match="more than 5 redirects"):
        next_url(HERE, b"/again", RULES, MOST_REDIRECTS)
