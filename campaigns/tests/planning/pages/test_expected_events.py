"""What a draft says of timers on its target."""

import pytest
from django.urls import reverse

from campaigns.models import Watch
from campaigns.targets.watches import registry
from campaigns.tests.targets.watches.toy_source import toy_sources

__all__ = ["toy_sources"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("toy_sources")]


def test_a_draft_asks_the_watches_of_its_target(browser, draft):
    address = reverse("campaign-expected-events", args=[draft.pk])
    page = reverse("campaign", args=[draft.pk])
    assert address not in browser.get(page).content.decode()
    assert registry.source_of("toy_ssh").uses_ssh
    Watch.objects.create(
        target=draft.target, source="toy_ssh", address="a.example:22", username="w"
    )
    assert address in browser.get(page).content.decode()
    text = browser.get(address).content.decode()
    assert "dnf-makecache.timer in 60 s" in text
    assert "fstrim" not in text
