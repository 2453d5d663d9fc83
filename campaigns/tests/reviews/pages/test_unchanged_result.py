"""A result page is sent again once anything that it shows has changed, and only then."""

import pytest
from django.urls import reverse

from campaigns.reviews.comments.places import place_on
from campaigns.reviews.comments.threads import begin
from campaigns.reviews.sending import send
from campaigns.tests.reviews.conftest import (
    author,
    campaign,
    draft,
    interleaved,
    other,
    reviewer,
    say,
    target,
)

__all__ = ["author", "campaign", "draft", "interleaved", "other", "reviewer", "target"]

pytestmark = pytest.mark.django_db


def test_a_review_and_a_comment_change_the_page_of_the_result(
    client, author, reviewer, campaign, draft
):
    client.force_login(reviewer, backend="django.contrib.auth.backends.ModelBackend")
    address = reverse("campaign", args=[campaign.pk])
    known = client.get(address)["ETag"]

    def changed():
        nonlocal known
        answer = client.get(address, headers={"If-None-Match": known})
        before, known = known, answer["ETag"]
        return answer.status_code == 200 and before != known

    assert not changed()

    sent = send(draft.pk, author, [reviewer])
    assert changed()  # the inbox counts one more

    say(sent, reviewer)
    assert changed()
    assert not changed()

    begin(place_on(campaign), "Why ten?", author)
    assert changed()
    assert not changed()
