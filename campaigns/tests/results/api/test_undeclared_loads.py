"""A factor that came from outside, whose name means load and whose role nobody has stated: asked about, and ranked by nobody."""

import re

import pytest

from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.planning.amending import amend
from campaigns.tests.browsing import Page
from campaigns.tests.findings.spoken import all_said, details_of
from campaigns.tests.planning.pages.test_amending import form_of
from campaigns.tests.results.api.documents import made

pytestmark = pytest.mark.django_db

TAKES = {5: 12.0, 15: 18.0, 40: 31.0}
RANKED = re.compile(r"\bfastest\b|\bbest\b|\bslower\b|\bfaster\b|recommend", re.IGNORECASE)


def registrations(name="hosts", number=int, **campaign):
    """Three runs at each of three loads."""
    return {
        "campaign": {"question": "How long does it take?", **campaign},
        "metrics": {"duration": {"unit": "s", "lower_is_better": True}},
        "runs": [
            {
                "tags": {name: number(hosts)},
                "values": {"duration": [took, took * 1.01, took * 0.99]},
            }
            for hosts, took in TAKES.items()
        ],
    }


def analysed(answer):
    campaign = made(answer)
    compute.analyse(campaign)
    return campaign


def test_such_a_factor_is_asked_about_and_its_curve_is_shown(send, client):
    campaign = analysed(send(registrations()))

    answer = answers_of([campaign.pk])[campaign.pk]
    assert answer.sentence == (
        "Is “hosts” a load? Its role is not stated, so its levels are not ranked."
    )
    assert "Duration by hosts: hosts 5: 12 s; hosts 15: 18 s; hosts 40: 31 s." in details_of(answer)
    page = Page(client.get(f"/campaigns/{campaign.pk}/print/"))
    assert "Is “hosts” a load?" in page.text
    assert "To state a role, amend the campaign" in page.text
    assert not RANKED.search(page.text)
    found = {each.name: each.result for each in campaign.findings.all()}
    assert "levels" not in found
    assert "capacity" not in found
    assert found["curves"]["factor"] == "hosts"


@pytest.mark.parametrize(
    "name", ["numClients", "VUs", "requests/s", "arrival_rate", "Number of users"]
)
@pytest.mark.parametrize("number", [int, str])
def test_whatever_it_is_called_and_however_it_is_written(send, name, number):
    campaign = analysed(send(registrations(name, number)))

    answer = answers_of([campaign.pk])[campaign.pk]
    words = name.replace("_", " ")
    assert answer.sentence.startswith(f"Is “{words}” a load?")
    assert any(f"Duration by {words}: {words} 5" in text.text for text in answer.statements)
    assert not any(RANKED.search(text.text) for text in answer.statements[1:])


@pytest.mark.parametrize("name", ["concurrency", "max_connections", "workers"])
def test_what_may_as_well_be_a_setting_is_ranked(send, name):
    campaign = analysed(send(registrations(name)))

    assert "is the fastest" in answers_of([campaign.pk])[campaign.pk].sentence


def test_names_of_hosts_are_no_loads(send):
    document = registrations()
    for run, name in zip(document["runs"], ("red", "green", "blue"), strict=True):
        run["tags"]["hosts"] = name
    campaign = analysed(send(document))

    assert "is the fastest" in answers_of([campaign.pk])[campaign.pk].sentence


@pytest.mark.parametrize("role", ["load", "setting"])
def test_a_stated_role_is_taken_at_its_word(send, role):
    campaign = analysed(send(registrations(roles={"hosts": role})))

    sentence = answers_of([campaign.pk])[campaign.pk].sentence
    assert "Is “hosts” a load?" not in sentence
    assert ("is the fastest" in sentence) == (role == "setting")


@pytest.mark.parametrize("role", ["load", "setting"])
def test_the_role_is_stated_afterwards_by_an_amendment(send, role):
    campaign = analysed(send(registrations()))

    (line,) = amend(campaign, {"roles": {"hosts": role}}, "It was asked of the server.", None)
    compute.analyse(campaign)

    assert (line.before, line.after) == ({"hosts": ""}, {"hosts": role})
    sentence = answers_of([campaign.pk])[campaign.pk].sentence
    assert "Is “hosts” a load?" not in sentence
    assert ("is the fastest" in sentence) == (role == "setting")


def test_pairs_of_two_such_levels_are_not_judged(send):
    document = registrations(order="paired", paired_factor="hosts", baseline=5)
    del document["runs"][2]
    document["runs"] = [
        {"tags": run["tags"], "values": {"duration": value}, "block": block}
        for run in document["runs"]
        for block, value in enumerate(run["values"]["duration"], 1)
    ]
    campaign = analysed(send(document))

    sentence = answers_of([campaign.pk])[campaign.pk].sentence
    assert sentence.startswith("Is “hosts” a load?")
    assert not RANKED.search(sentence)


def test_settings_are_compared_at_each_of_its_levels(send):
    document = registrations()
    document["runs"] = [
        {
            "tags": {**run["tags"], "throttle": throttle},
            "values": {"duration": [value * slower for value in run["values"]["duration"]]},
        }
        for run in document["runs"]
        for throttle, slower in ((3, 1.0), (6, 1.5))
    ]
    campaign = analysed(send(document))

    answer = answers_of([campaign.pk])[campaign.pk]
    assert answer.sentence == (
        "Is “hosts” a load? Its role is not stated, so its levels are not ranked."
    )
    assert "at 5 hosts" in details_of(answer).lower()
    assert "hosts 5 is" not in all_said(answer).lower()


def test_the_sender_is_asked_in_the_answer_to_a_submission(send):
    (question,) = send(registrations()).json()["questions"]

    assert question.startswith(
        "Is “hosts” a load? Its name says so, and its role is not stated: its levels are not ranked."
    )


@pytest.mark.parametrize(("field", "role"), [("load", "load"), ("setting", "setting")])
def test_the_role_is_stated_on_the_page_of_amendments(send, client, field, role):
    campaign = analysed(send(registrations()))
    address = f"/campaigns/{campaign.pk}/amend/"
    sent = form_of(client, campaign)

    assert "The role of hosts is not stated." in Page(client.get(address)).text
    answer = client.post(address, {**sent, field: "hosts", "reason": "It was asked of the server."})

    assert answer.status_code == 302, Page(answer).text
    assert campaign.factors.get().role == role
