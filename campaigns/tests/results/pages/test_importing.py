"""The page that imports files, with files that the real tools wrote."""

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from campaigns.findings import compute
from campaigns.models import Campaign, Submission, SubmissionPart
from campaigns.planning.roles import roles_of
from campaigns.results.importing import waiting
from campaigns.tests.browsing import Page
from campaigns.tests.results import readers

pytestmark = pytest.mark.django_db

DATA = Path(readers.__file__).with_name("data")


def upload(name: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, (DATA / name).read_bytes())


def send(browser, file, **said):
    return browser.post(reverse("import"), {"file": file, **said})


def test_a_file_becomes_a_campaign_and_leads_to_it(browser, person):
    answer = send(browser, upload("hyperfine-1.20.json"), tags="a, b", facts="cpu = old\nram=8 GB")

    campaign = Campaign.objects.get()
    assert answer.headers["Location"] == reverse("campaign", args=[campaign.pk])
    assert campaign.author == person
    assert campaign.tags == ["a", "b"]
    assert campaign.analysis_requested_at is not None
    facts = dict(
        campaign.runs.earliest("position").attempts.get().environment.values_list("name", "value")
    )
    assert facts["cpu"] == "old"
    assert facts["ram"] == "8 GB"


def test_the_page_of_the_campaign_says_what_was_left_out(browser):
    send(browser, upload("hyperfine-1.20.json"))
    campaign = Campaign.objects.get()
    compute.analyse(campaign)

    page = Page(browser.get(reverse("campaign-print", args=[campaign.pk])))

    assert "User and system time are left out" in page.text
    assert "import: raw values" in page.text


def test_a_look_says_what_is_in_it_and_stores_nothing(browser):
    answer = browser.post(reverse("import-preview"), {"file": upload("wrk_latency.txt")})

    text = " ".join(answer.content.decode().split())
    assert "wrk" in text
    assert "rounded by the tool" in text
    assert "Left out:" in text
    assert not Campaign.objects.exists()
    assert not Submission.objects.exists()


@pytest.mark.parametrize(
    ("content", "said", "words"),
    [
        (b"", {}, "is empty"),
        (b"speed\n7\n", {}, "none of the known formats"),
        (b"{}", {"format": "hyperfine"}, "results"),
        (None, {"primary_metric": "speed"}, "speed"),
        (None, {"facts": "cpu"}, "Line 1 is not written as name = value."),
        (None, {"mapping": "["}, "This is not JSON"),
        (None, {"mapping": "[" * 100_000}, ""),
        (None, {"tags": "t" * 41}, "40"),
        (None, {"question": "q" * 501}, "500"),
        (None, {"format": "gold"}, "gold"),
    ],
)
def test_what_is_wrong_is_said_and_what_was_typed_stays(browser, content, said, words):
    name = "hyperfine-1.20.json"
    body = (DATA / name).read_bytes() if content is None else content

    for page in ("import", "import-preview"):
        answer = browser.post(
            reverse(page), {"file": SimpleUploadedFile(name, body), "name": "typed", **said}
        )
        assert answer.status_code == (422 if page == "import" else 200)
        assert words in answer.content.decode()

    assert not Campaign.objects.exists()


def test_without_a_file_it_asks_for_one(browser):
    assert "Choose a file." in browser.post(reverse("import"), {}).content.decode()


def test_the_same_file_leads_to_the_campaign_that_is_there(browser):
    send(browser, upload("oha.json"))

    page = browser.post(reverse("import"), {"file": upload("oha.json")}, follow=True)

    assert Campaign.objects.count() == 1
    assert "was imported before" in page.content.decode()


def test_a_large_file_waits_until_a_worker_has_read_it(browser, monkeypatch):
    monkeypatch.setattr(waiting, "READ_AT_ONCE", 100)
    answer = send(browser, upload("hyperfine-1.20.json"))
    kept = Submission.objects.get()
    address = reverse("import-wait", args=[kept.pk])
    assert answer.headers["Location"] == address
    assert "A worker reads" in browser.get(address).content.decode()
    assert not Campaign.objects.exists()

    received = waiting.read_waiting(kept.pk)

    assert received is not None
    assert browser.get(address).headers["Location"] == reverse(
        "campaign", args=[received.campaign.pk]
    )
    part = browser.get(address, headers={"HX-Request": "true"})
    assert part.headers["HX-Redirect"] == reverse("campaign", args=[received.campaign.pk])
    assert not SubmissionPart.objects.exists()
    assert waiting.read_waiting(kept.pk) is None


def test_a_large_file_that_cannot_be_read_is_refused_in_words_and_its_parts_go(
    browser, monkeypatch
):
    monkeypatch.setattr(waiting, "READ_AT_ONCE", 1)
    send(browser, SimpleUploadedFile("x.json", b"not json"), format="hyperfine")
    kept = Submission.objects.get()

    assert waiting.read_waiting(kept.pk) is None

    text = browser.get(reverse("import-wait", args=[kept.pk])).content.decode()
    assert "There is no JSON document in the file." in text
    assert "Nothing of “x.json” was stored." in text
    assert not SubmissionPart.objects.exists()
    assert not Campaign.objects.exists()


def test_a_file_that_waits_is_sent_to_a_worker_once(browser, monkeypatch):
    monkeypatch.setattr(waiting, "READ_AT_ONCE", 1)
    send(browser, upload("oha.json"))
    Submission.objects.update(sent_at=None)

    assert waiting.due(9) == [Submission.objects.get().pk]
    assert waiting.due(9) == []


def test_a_file_at_which_perfdash_errs_is_refused_and_not_read_for_ever(browser, monkeypatch):
    monkeypatch.setattr(waiting, "READ_AT_ONCE", 1)
    send(browser, upload("oha.json"))
    monkeypatch.setattr(waiting, "create", lambda *_: 1 / 0)

    assert waiting.read_waiting(Submission.objects.get().pk) is None

    kept = Submission.objects.get()
    assert kept.state == "refused"
    assert "ZeroDivisionError" in kept.problem
    assert waiting.due(9) == []


CSV = b"clients,throttle,took\n1,3,1.5\n10,3,2.5\n1,none,1.7\n10,none,9\n"
MAPPING = {
    "factors": ["clients", "throttle"],
    "metrics": {"took": {"unit": "s", "lower_is_better": True}},
}


def test_roles_and_a_criterion_can_be_given_to_a_file(browser):
    file = SimpleUploadedFile("a.csv", CSV)
    said = {"format": "plain_csv", "mapping": json.dumps(MAPPING)}
    look = browser.post(reverse("import-preview"), {"file": file, **said})
    assert "Is “clients” a load? Its name says so" in look.content.decode()

    stated = said | {"load": "clients", "criterion": "took <= 3 s, failed <= 5 %"}
    browser.post(reverse("import"), {"file": SimpleUploadedFile("a.csv", CSV), **stated})

    campaign = Campaign.objects.get()
    assert roles_of(campaign)["clients"] == "load"
    assert campaign.criterion == {
        "conditions": [{"metric": "took", "at_most": 3}],
        "failed_percent": 5,
    }


@pytest.mark.parametrize("changes", [{"load": "nobody"}, {"criterion": "took"}])
def test_a_wrong_description_of_a_file_is_refused_in_words(browser, changes):
    said = {"format": "plain_csv", "mapping": json.dumps(MAPPING), **changes}

    answer = browser.post(reverse("import"), {"file": SimpleUploadedFile("a.csv", CSV), **said})

    assert answer.status_code == 422
    assert not Campaign.objects.exists()


LOOP = b"clients,done,took\n1,990,1.0\n2,1800,1.1\n4,2800,1.4\n6,3200,1.9\n8,3200,2.5\n"


def test_a_file_of_a_closed_loop_names_its_throughput_and_its_response_time(browser):
    metrics = {
        "took": {"unit": "ms", "lower_is_better": True},
        "done": {"unit": "requests/s", "lower_is_better": False},
    }
    said = {
        "format": "plain_csv",
        "mapping": json.dumps({"factors": ["clients"], "metrics": metrics}),
        "load": "clients",
        "closed_loop": "done, took",
    }

    browser.post(reverse("import"), {"file": SimpleUploadedFile("a.csv", LOOP), **said})

    assert Campaign.objects.get().closed_loop == {
        "parameter": "clients",
        "throughput": "done",
        "response": "took",
    }
    wrong = said | {"closed_loop": "took", "name": "another"}
    answer = browser.post(reverse("import"), {"file": SimpleUploadedFile("a.csv", LOOP), **wrong})
    assert answer.status_code == 422
    assert "completions are counted per second" in answer.content.decode()
