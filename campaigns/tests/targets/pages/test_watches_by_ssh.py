"""The form of a source that is reached by SSH where its address begins with ssh://."""

import pytest
from django.urls import reverse

from campaigns.models import Watch
from campaigns.tests.browsing import Page

pytestmark = pytest.mark.django_db

ENTERED = {
    "address": "ssh://Proxy.example",
    "username": "watcher",
    "password": "seven-times",
    "option_socket": "/run/haproxy/admin.sock",
    "is_on": "on",
}


@pytest.fixture(autouse=True)
def _allowed(settings):
    settings.ALLOWED_ADDRESSES = "*.example:*"


def test_it_says_what_is_for_ssh_and_tells_of_a_login_that_was_given(browser, target):
    new = reverse("watch-new", args=[target.pk, "haproxy"])
    page = Page(browser.get(new)).text
    assert "Private key for ssh://" in page
    assert "For ssh:// alone." in page
    assert browser.post(new, ENTERED).status_code == 302
    assert Watch.objects.get().address == "ssh://proxy.example"
    assert "proxy.example" in Page(browser.get(reverse("target", args=[target.pk]))).text
    other = Page(browser.get(reverse("watch-new", args=[target.pk, "puma"]))).text
    assert (
        "Empty with ssh://proxy.example: the key or password that was given for watcher@proxy"
        in other
    )


def test_what_ssh_needs_is_asked_for(browser, target):
    new = reverse("watch-new", args=[target.pk, "haproxy"])
    answer = browser.post(new, ENTERED | {"option_socket": "", "username": ""})
    assert answer.status_code == 422
    assert "An address that begins with ssh:// needs it." in Page(answer).text
    assert not Watch.objects.exists()
