import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from campaigns.accounts.access import LinkRefused, redeem
from campaigns.models import ApiToken, Campaign, SignInLink
from campaigns.results import importing
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db

PUBLISHED = Path(importing.__file__).with_name("published_sync_runs.csv")


@pytest.fixture
def owner():
    return somebody("owner")


def test_a_sign_in_link_is_one_url_that_works_once(owner, manage):
    printed = manage("sign_in_link", "--base-url", "http://127.0.0.1:8000/")

    assert re.fullmatch(r"http://127\.0\.0\.1:8000/\S+", printed)
    token = printed.rstrip("/").rpartition("/")[2]
    assert redeem(token) == owner
    with pytest.raises(LinkRefused, match="used already"):
        redeem(token)
    assert token not in str(SignInLink.objects.values_list())


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "inf", "1441"])
def test_a_sign_in_link_works_for_a_sensible_time(owner, manage, minutes):
    with pytest.raises(CommandError, match="minutes"):
        manage("sign_in_link", "--base-url", "http://x", f"--minutes={minutes}")


def test_a_sign_in_link_for_nobody_is_refused(manage):
    with pytest.raises(CommandError, match=r"manage\.py prepare"):
        manage("sign_in_link", "--base-url", "http://x")


def test_a_token_is_printed_once_and_works(owner, manage):
    token = manage("create_token", "owner", "--name", "laptop")

    client = Client(headers={"Authorization": f"Bearer {token}"})
    assert client.get("/api/v1/kinds").status_code == 200
    assert ApiToken.objects.get().name == "laptop"
    assert token not in str(ApiToken.objects.values_list())


def test_a_token_may_everything_for_ever_unless_it_is_limited(owner, capsys):
    limits = ["--scope=submit", "--scope=read", "--expires=90d"]
    call_command("create_token", "owner", "--name=all")
    call_command("create_token", "owner", "--name=ci", *limits)

    everything, limited = ApiToken.objects.order_by("pk")
    assert (everything.scopes, everything.expires_at) == (["operate"], None)
    assert limited.scopes == ["read", "submit"]
    assert limited.expires_at == limited.created_at + timedelta(days=90)
    said = capsys.readouterr().err
    assert "everything that they may do, good for ever" in said
    assert f"for read and submit, good until {limited.expires_at:%Y-%m-%d}" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("owner", "--name", "x", "--scope", "all"), "invalid choice: 'all'"),
        (("owner", "--name", "x", "--expires", "2d"), "invalid choice: '2d'"),
        (("nobody", "--name", "x"), "no active user 'nobody'"),
        (("owner", "--name", ""), "name"),
        (("owner", "--name", "n" * 101), "at most 100"),
    ],
)
def test_a_token_that_cannot_be_made_is_refused_in_words(owner, manage, arguments, words):
    with pytest.raises(CommandError, match=words):
        manage("create_token", *arguments)

    assert not ApiToken.objects.exists()


def test_a_file_of_runs_is_imported(manage):
    printed = manage(
        "import",
        str(PUBLISHED),
        "--question=Which one?",
        "--tag=a",
        "--tag=b",
        "--fact=disk=SSD",
        "--fidelity=rounded",
    )

    campaign = Campaign.objects.get()
    assert f"Imported 18 runs with 18 values (plain_csv) as campaign {campaign.pk}" in printed
    assert (campaign.source, campaign.fidelity) == (
        "published_sync_runs.csv (CSV)",
        "rounded",
    )
    assert campaign.tags == ["a", "b"]
    assert campaign.analysis_requested_at is not None


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (b"x", (), "none of the known formats"),
        (b"x", ("--format=plain_csv",), "line 1: The columns are not"),
        (PUBLISHED.read_bytes(), ("--format=gold",), "There is no format “gold”"),
        (PUBLISHED.read_bytes(), ("--metric=speed",), "primary_metric"),
        (b"concurrency,avg duration,duration,start,finish\nx,,,,\n", (), "line 2: "),
        (PUBLISHED.read_bytes(), ("--question=" + "q" * 501,), "question"),
        (PUBLISHED.read_bytes(), ("--fact=disk",), "NAME=VALUE"),
        (PUBLISHED.read_bytes(), ("--load=clients",), "“clients” does not vary"),
        (PUBLISHED.read_bytes(), ("--criterion=speed <= 3",), "“speed” is not a metric"),
        (PUBLISHED.read_bytes(), ("--criterion=soon",), "“soon”, is no condition"),
        (PUBLISHED.read_bytes(), ("--source=" + "s" * 301,), "source"),
        (b"x" * 3_000_000, ("--format=hyperfine",), "There is no JSON document"),
    ],
)
def test_a_file_that_cannot_be_imported_leaves_nothing(manage, tmp_path, content, options, words):
    path = tmp_path / "runs.csv"
    path.write_bytes(content)

    with pytest.raises(CommandError, match=words):
        manage("import", str(path), "--question=Which one?", *options)

    assert not Campaign.objects.exists()


def test_load_and_a_criterion_are_given_to_a_file(manage):
    asked = manage("import", str(PUBLISHED), "--question=Which one?", "--dry-run")
    assert "“concurrency” is a setting here" in asked

    said = ("--load=concurrency", "--criterion=duration <= 3 min, failed <= 5 %")
    manage("import", str(PUBLISHED), "--question=Which one?", *said)

    campaign = Campaign.objects.get()
    assert campaign.factors.get(name="concurrency").role == "load"
    assert campaign.criterion["failed_percent"] == 5


@pytest.mark.parametrize("name", ["missing.csv", "."])
def test_a_file_that_cannot_be_read_is_named(manage, tmp_path, name):
    with pytest.raises(CommandError, match="cannot be read"):
        manage("import", str(tmp_path / name), "--question=Which one?")
