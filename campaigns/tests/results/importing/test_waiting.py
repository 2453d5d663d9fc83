"""A large file from its claim to its end: read without a transaction, tried a few times, stored once."""

from io import BytesIO

import pytest
from django.db import OperationalError, connection

from campaigns.kit.apart import Limits
from campaigns.models import Campaign, Submission
from campaigns.results import reading
from campaigns.results.importing import waiting
from campaigns.results.importing.files import About
from campaigns.results.readers import BadFile, read

CSV = b"clients,took\n1,1.5\n10,2.5\n"
MAPPING = {"factors": ["clients"], "metrics": {"took": {"unit": "s", "lower_is_better": True}}}
COMMITS = pytest.mark.django_db(transaction=True)


@pytest.fixture
def kept():
    return keep(CSV, About(filename="x.csv", format="plain_csv", mapping=MAPPING))


def keep(content, about):
    waiting.keep(BytesIO(content), about, None)
    return Submission.objects.get().pk


def here(content, filename, format, mapping, limits):
    return read(content, filename, format, mapping)


def beside(monkeypatch, act):
    """Let something happen while a file is read."""

    def reads(*arguments):
        monkeypatch.setattr(reading, "read", here)
        act()
        return here(*arguments)

    monkeypatch.setattr(reading, "read", reads)


@COMMITS
def test_no_transaction_is_open_while_a_file_is_read(kept, monkeypatch):
    """PostgreSQL ends the connection of one that idles for a minute."""
    seen = []
    beside(monkeypatch, lambda: seen.append(connection.in_atomic_block))

    waiting.read_waiting(kept)

    assert seen == [False]
    assert Submission.objects.get().state == "stored"


@COMMITS
def test_a_file_whose_reading_ends_its_workers_is_refused_in_words(kept, monkeypatch):
    def ends_the_worker(*_):
        raise OperationalError("the worker is gone")

    monkeypatch.setattr(reading, "read", ends_the_worker)
    for _ in range(waiting.MOST_TRIES):
        assert waiting.due(9) == [kept]
        with pytest.raises(OperationalError):
            waiting.read_waiting(kept)
        waiting.forget_sent()

    assert waiting.due(9) == [kept]
    assert waiting.read_waiting(kept) is None

    refused = Submission.objects.get()
    assert (refused.state, refused.parts.count()) == ("refused", 0)
    assert "begun 3 times, and no worker came to its end" in refused.problem
    assert waiting.due(9) == []


@pytest.mark.django_db
def test_a_file_that_a_second_worker_claimed_meanwhile_is_stored_once(kept, monkeypatch):
    beside(monkeypatch, lambda: waiting.read_waiting(kept))

    assert waiting.read_waiting(kept) is None

    assert Campaign.objects.count() == 1
    assert Submission.objects.get().state == "stored"


@pytest.mark.django_db
def test_a_refusal_that_comes_late_changes_nothing(kept, monkeypatch):
    def late(*_):
        monkeypatch.setattr(reading, "read", here)
        waiting.read_waiting(kept)
        raise BadFile([("", "too late")])

    monkeypatch.setattr(reading, "read", late)

    assert waiting.read_waiting(kept) is None

    assert Submission.objects.get().state == "stored"
    assert Campaign.objects.count() == 1


@pytest.mark.system
@pytest.mark.django_db
def test_a_file_that_takes_more_memory_than_it_may_is_refused_in_words(monkeypatch):
    monkeypatch.setattr(reading, "LATER", Limits(memory_mb=60, seconds=10))
    lists = b'{"results": [' + b"[]," * 900_000 + b"[]]}"
    key = keep(lists, About("x.json", "hyperfine"))

    assert waiting.read_waiting(key) is None

    assert "takes more than 60 MB of memory" in Submission.objects.get().problem
