"""A definition by REST states load and a criterion, and comes back as it was sent."""

import pytest

from campaigns.findings.compute.findings import hashed_document
from campaigns.findings.compute.statistics_input import criteria_of
from campaigns.models import Campaign
from campaigns.tests.findings.compute import loads
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db

STATED = {
    "factors": {"workers": [2, 4], "slow": [1, 2]},
    "order": "interleaved",
    "paired_factor": "",
    "roles": {"slow": "load"},
    "criterion": {"conditions": [{"metric": "duration", "at_most": "3 min"}], "failed_percent": 5},
}
STORED = {"conditions": [{"metric": "duration", "at_most": 180.0}], "failed_percent": 5.0}


def sent(target, **changes):
    return definition(target=target.pk, **(STATED | changes))


def test_what_was_read_can_be_sent_again(api, target):
    status, body = api.post("campaigns", sent(target))
    assert status == 201
    data = body["definition"]
    assert (data["roles"], data["criterion"]) == ({"slow": "load"}, STORED)

    status, again = api.post("campaigns", data)

    assert status == 201
    assert again["definition"] == data


def test_an_answer_has_the_role_of_every_factor_also_of_those_that_the_kind_declares(api, target):
    _, body = api.post("campaigns", sent(target))

    assert body["roles"] == {"workers": "setting", "slow": "load"}
    assert body["closed_loop"] is None


def test_a_number_at_a_time_that_varies_is_told_as_a_closed_loop(api, target):
    campaign = loads.launch(target, {"concurrency": [50, 100]})

    _, body = api.get(f"campaigns/{campaign.pk}")

    assert body["roles"] == {"concurrency": "load"}
    assert body["closed_loop"] == {
        "parameter": "concurrency",
        "throughput": "file_rate",
        "response": "file_time",
    }


def test_a_clone_and_a_template_take_both(api, target):
    _, body = api.post("campaigns", sent(target))

    _, clone = api.post(f"campaigns/{body['id']}/clone", {"question": "And now?"})
    _, template = api.post("templates", {"campaign": body["id"], "name": "Loads"})
    _, begun = api.post(f"templates/{template['id']}/campaigns", {"factors": {"workers": [1, 2]}})

    assert clone["definition"]["roles"] == {"slow": "load"}
    assert clone["definition"]["criterion"] == STORED
    assert begun["definition"]["criterion"] == STORED
    assert "roles" not in begun["definition"]


def test_every_error_is_named_at_its_place(api, target):
    criterion = {
        "conditions": [
            {"metric": "speed", "at_most": 1},
            {"metric": "duration", "at_most": "3 MB"},
            {"metric": "rate", "at_least": 5},
            {"metric": "rate", "at_most": 4},
        ],
        "failed_percent": 100,
        "resolution": 1,
    }

    status, problem = api.post(
        "campaigns", sent(target, criterion=criterion, roles={"workers": "load"})
    )

    assert status == 400
    assert {each["field"] for each in problem["errors"]} == {
        "criterion.conditions.0",
        "criterion.conditions.1",
        "criterion.conditions.3",
        "criterion.failed_percent",
        "criterion.resolution",
        "roles.workers",
    }


@pytest.mark.parametrize("nonsense", [5, "slow", [1], [["a"]]])
@pytest.mark.parametrize("field", ["criterion", "roles"])
def test_other_types_are_refused(api, target, field, nonsense):
    status, problem = api.post("campaigns", sent(target, **{field: nonsense}))

    assert status == 400
    assert problem["errors"][0]["field"] == field


def test_a_preview_tells_what_follows(api, target):
    _, body = api.post("campaigns/preview", sent(target))

    shown = " ".join(each["text"] for each in body["remarks"])
    assert "slow is load: its levels are never ranked" in shown
    assert "It takes 352 samples per cell without a failure" in shown


def test_a_launched_campaign_is_amended(api, target):
    _, body = api.post("campaigns?launch=true", sent(target, criterion=None))

    address = f"campaigns/{body['id']}/amend"
    status, _ = api.post(address, {"reason": "agreed", "criterion": STATED["criterion"]})

    assert status == 200
    assert api.get(f"campaigns/{body['id']}")[1]["definition"]["criterion"] == STORED
    status, problem = api.post(address, {"reason": "agreed", "criterion": {"failed_percent": 0}})
    assert status == 400
    assert problem["errors"][0]["field"] == "criterion.failed_percent"


def test_the_hash_of_data_covers_them_only_where_they_are_stated(api, target):
    api.post("campaigns", sent(target))
    api.post("campaigns", sent(target, criterion={}, roles={}))
    stated, plain = (
        hashed_document(
            campaign, {campaign.primary_metric: []}, criteria_of(campaign, 4, adaptive=False), []
        )["definition"]
        for campaign in Campaign.objects.order_by("pk")
    )

    assert stated["roles"] == {"slow": "load"}
    assert stated["criterion"] == STORED
    assert not {"roles", "criterion"} & plain.keys()
