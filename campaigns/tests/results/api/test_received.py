"""Who may see what was submitted, and what is taken for a submission."""

import json
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from campaigns.accounts.access import make_token
from campaigns.models import Campaign, Measurement
from campaigns.results.api.run_outputs import MeasurementOutput
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db

DOCUMENT = {
    "campaign": {"question": "Which engine?"},
    "metrics": {"duration": {"unit": "s", "lower_is_better": True}},
    "runs": [{"tags": {"engine": name}, "values": {"duration": 1}} for name in ("old", "new")],
}


def client_of(person: User) -> Client:
    """Of somebody whose token may submit, and nothing else."""
    token = make_token(person, "ci", "submit")[1]
    return Client(headers={"Authorization": f"Bearer {token}"})


def test_who_may_only_submit_sees_what_became_of_their_own(owner):
    mine = client_of(owner)
    theirs = client_of(somebody("somebody"))
    answer = mine.post("/api/v1/submissions", json.dumps(DOCUMENT), "application/json")
    address = f"/api/v1/submissions/{answer.json()['submission']['id']}"

    assert mine.get(address).status_code == 200
    assert theirs.get(address).status_code == 403
    assert mine.get("/api/v1/submissions").status_code == 403
    assert mine.get("/api/v1/submissions/999").status_code == 403


def test_a_browser_sends_its_csrf_token_as_a_header_and_the_whole_body_is_read(owner):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(owner)
    browser.get("/account/")
    token = {"X-CSRFToken": browser.cookies[settings.CSRF_COOKIE_NAME].value}
    body = json.dumps(DOCUMENT)

    refused = browser.post("/api/v1/submissions", body, "application/json")
    taken = browser.post("/api/v1/submissions", body, "application/json", headers=token)
    file = browser.post(
        "/api/v1/imports?name=a.csv",
        "engine,duration\nold,1\nnew,2\n",
        "application/x-www-form-urlencoded",
        headers=token,
    )

    assert refused.status_code == 403
    assert "CSRF" in refused.json()["detail"]
    assert taken.status_code == 201, taken.content
    assert file.status_code == 400
    assert "Give a mapping" in file.content.decode()


def test_what_is_said_to_be_no_json_is_not_read(client, owner):
    client.force_login(owner)

    answer = client.post("/api/v1/submissions", json.dumps(DOCUMENT), "text/plain")

    assert answer.status_code == 415
    assert "Send application/json" in answer.json()["detail"]


@pytest.mark.parametrize("name", ["question", "name", "source"])
def test_what_is_text_is_text(client, owner, name):
    client.force_login(owner)
    document = DOCUMENT | {"campaign": {"question": "Which?", name: ["a"]}}

    answer = client.post("/api/v1/submissions", json.dumps(document), "application/json")

    found = {each["field"]: each["message"] for each in answer.json()["errors"]}
    assert found[f"campaign.{name}"] == "Send a text."


def test_a_mapping_means_a_plain_csv(client, owner):
    client.force_login(owner)
    mapping = {
        "factors": ["engine"],
        "metrics": {"seconds": {"unit": "s", "lower_is_better": True}},
        "delimiter": ";",
    }
    query = urlencode({"mapping": json.dumps(mapping), "filename": "a.csv"})

    answer = client.post(
        f"/api/v1/imports?{query}", b"engine;seconds\nold;2\nnew;1\n", "application/octet-stream"
    )

    assert answer.status_code == 201, answer.content
    assert answer.json()["submission"]["format"] == "plain_csv"


def test_values_of_a_run_have_the_fields_that_are_documented(client, owner):
    client.force_login(owner)
    answer = client.post("/api/v1/submissions", json.dumps(DOCUMENT), "application/json")
    campaign = answer.json()["submission"]["campaign"]["id"]

    run = client.get(f"/api/v1/campaigns/{campaign}/runs").json()["results"][0]

    assert run["measurements"] == {
        "duration": MeasurementOutput(Measurement.objects.earliest("attempt_id")).data
    }


def test_a_draft_of_the_kind_takes_no_runs(client, owner):
    client.force_login(owner)
    draft = Campaign.objects.create(kind="external", name="mine", primary_metric="duration").pk

    answer = client.post(
        f"/api/v1/campaigns/{draft}/runs",
        json.dumps({"runs": [{"values": {"duration": 1}}]}),
        "application/json",
    )

    assert answer.status_code == 409
    assert "is a draft" in answer.json()["detail"]
