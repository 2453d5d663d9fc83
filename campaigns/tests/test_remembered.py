"""What is inserted again is what was made, and it is made anew where that would not be so."""

from functools import partial
from time import monotonic

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from campaigns.findings import compute
from campaigns.models import Conclusion, Decision, Finding, Team
from campaigns.models.teams import default_team
from campaigns.planning.analyses import request_analysis
from campaigns.tests import remembered as kept
from campaigns.tests.findings.compute.conftest import interleaved, noisy, store, target
from campaigns.tests.people import somebody
from campaigns.tests.remembered import default, remembered
from campaigns.tests.reviews.conftest import LEVELS, drafted, finished, say, sent_to

__all__ = ["interleaved", "target"]
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_is_kept_yet(monkeypatch):
    monkeypatch.setattr(kept, "_places", {})


def in_a_test_of_its_own(act):
    """Do it, and take back what it has done to the database, as the end of a test does; return what it returns."""
    with transaction.atomic():
        found = act()
        transaction.set_rollback(True)
    return found


@pytest.fixture
def counted(interleaved):
    """A making of a campaign, and how often it was called."""
    calls: list[None] = []

    def make():
        calls.append(None)
        found = interleaved(list(LEVELS))
        store(found, noisy(LEVELS))
        return finished(found)

    return make, calls


def everything():
    return kept._rows(kept._tables())


def test_what_is_inserted_again_is_what_was_made(counted):
    make, calls = counted

    def act():
        return remembered(make), everything()

    first, made = in_a_test_of_its_own(act)
    second, again = in_a_test_of_its_own(act)

    assert len(calls) == 1
    assert again == made
    assert values_of(second) == values_of(first)
    assert any(name.endswith("finding") and rows for name, rows in again.items())


def values_of(row):
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_another_analysis_of_it_finds_the_same(counted):
    make, _ = counted
    in_a_test_of_its_own(lambda: remembered(make))
    campaign = remembered(make)
    before = findings_of(campaign)

    request_analysis(campaign)
    compute.analyse(campaign)

    assert findings_of(campaign) == before
    assert "answer" in before


def findings_of(campaign):
    rows = Finding.objects.filter(campaign=campaign)
    return {
        name: (data, result)
        for name, data, result in rows.values_list("name", "data_hash", "result")
    }


def test_what_was_changed_is_changed_again_and_rules_hold_as_before(counted):
    make, _ = counted

    def act():
        campaign = remembered(make)
        author, reviewer = (
            remembered(somebody, "ann", "author"),
            remembered(somebody, "rob", "reviewer"),
        )
        sent = remembered(sent_to, remembered(drafted, author, campaign), author, reviewer)
        return everything(), remembered(say, sent, reviewer), everything()

    made = in_a_test_of_its_own(act)
    again = in_a_test_of_its_own(act)

    assert again[0] == made[0]
    assert again[2] == made[2]
    act()
    with pytest.raises(Exception, match="decision"), transaction.atomic():
        Decision.objects.all().delete()
    assert Conclusion.objects.get().state == Conclusion.State.ACCEPTED
    connection.check_constraints()


def test_it_is_made_anew_where_any_row_is_another_one(counted):
    make, calls = counted
    in_a_test_of_its_own(lambda: remembered(make))

    def act():
        Team.objects.filter(pk=default_team()).update(approvals_needed=2)
        return remembered(make)

    in_a_test_of_its_own(act)
    assert len(calls) == 2


def test_it_is_made_anew_where_settings_differ(counted, settings):
    make, calls = counted
    in_a_test_of_its_own(lambda: remembered(make))
    settings.ALLOWED_ADDRESSES = "127.0.0.1:9,127.0.0.1:10"

    in_a_test_of_its_own(lambda: remembered(make))
    assert len(calls) == 2


def test_it_is_made_anew_where_somebody_has_other_roles():
    def make(author):
        calls.append(author)
        return Conclusion.objects.create(team_id=default_team(), author=author, claim="So it is.")

    calls: list[User] = []
    author = remembered(somebody, "ann", "author")
    in_a_test_of_its_own(lambda: remembered(make, author))
    in_a_test_of_its_own(lambda: remembered(make, author))
    assert len(calls) == 1

    author.memberships.update(roles=["reviewer"])
    in_a_test_of_its_own(lambda: remembered(make, author))
    assert len(calls) == 2


def test_it_is_made_anew_where_a_kept_row_would_meet_another_one():
    first = in_a_test_of_its_own(lambda: remembered(somebody, "ann"))
    other = somebody("eve")
    other.memberships.all().delete()
    type(other).objects.filter(pk=other.pk).update(id=first.pk)

    assert remembered(somebody, "ann").pk != first.pk


def test_it_is_made_anew_where_something_else_is_patched(counted, monkeypatch):
    make, calls = counted
    in_a_test_of_its_own(lambda: remembered(make))
    monkeypatch.setattr("campaigns.stats.knee.RESAMPLES", 198)

    in_a_test_of_its_own(lambda: remembered(make))
    in_a_test_of_its_own(lambda: remembered(make))
    assert len(calls) == 2


def test_callbacks_of_the_transaction_wait_again(django_capture_on_commit_callbacks):
    def make():
        transaction.on_commit(partial(sent.append, 1))
        return default()

    sent: list[int] = []
    with django_capture_on_commit_callbacks(execute=True):
        remembered(make)
    with django_capture_on_commit_callbacks(execute=True):
        remembered(make)
    assert sent == [1, 1]
    (place,) = (place for (_, name), place in kept._places.items() if name.endswith("make"))
    assert place.hits == 1


def test_it_is_made_anew_after_minutes(counted, monkeypatch):
    make, calls = counted
    in_a_test_of_its_own(lambda: remembered(make))
    later = monotonic() + kept.MOST_SECONDS
    monkeypatch.setattr(kept, "monotonic", lambda: later)

    in_a_test_of_its_own(lambda: remembered(make))
    assert len(calls) == 2


def test_what_is_never_the_same_is_not_kept_for_ever():
    def make(number):
        return somebody(f"user-{number}")

    for number in range(20):
        remembered(make, number)

    (place,) = (place for (_, name), place in kept._places.items() if name.endswith("make"))
    assert sum(map(len, place.memories.values())) == kept.MOST_MISSES + 1
