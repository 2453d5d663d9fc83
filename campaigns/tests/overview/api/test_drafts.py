"""A draft is changed and deleted by the same rules as on its page."""

import pytest

from campaigns.accounts.access import make_token
from campaigns.models import Campaign, Run
from campaigns.planning import lifecycle
from campaigns.tests.rest import ApiClient
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db


@pytest.fixture
def launched(draft):
    return lifecycle.launch(Campaign.objects.get(pk=draft), None).pk


def test_a_draft_is_replaced_and_what_is_not_sent_is_as_in_a_new_one(api, draft, target):
    api.patch(f"campaigns/{draft}", {"tags": ["old"], "warm_ups": 2})

    status, body = api.put(f"campaigns/{draft}", definition(target=target.pk, repetitions=5))

    assert status == 200
    assert body["id"] == draft
    told = body["definition"]
    assert (told["repetitions"], told["warm_ups"], told["tags"]) == (5, 0, [])


def test_a_draft_keeps_the_fields_that_are_not_sent(api, draft):
    before = api.get(f"campaigns/{draft}")[1]["definition"]

    status, body = api.patch(f"campaigns/{draft}", {"parameters": {"note": "x"}, "repetitions": 2})

    assert status == 200
    after = body["definition"]
    assert after["parameters"] == before["parameters"] | {"note": "x"}
    assert after["repetitions"] == 2
    changed = {"parameters", "repetitions"}
    assert {name for name in before if before[name] != after[name]} == changed


def test_a_parameter_that_becomes_a_factor_makes_new_cells(api, draft):
    factors = {"engine": ["new", "old"], "workers": [1, 2]}

    status, body = api.patch(f"campaigns/{draft}", {"factors": factors})

    assert status == 200
    assert [cell["levels"] for cell in body["cells"]] == [
        {"engine": engine, "workers": workers} for engine in ("new", "old") for workers in (1, 2)
    ]
    assert "workers" not in body["definition"]["parameters"]


@pytest.mark.parametrize("method", ["put", "patch"])
def test_what_is_wrong_is_told_at_its_field_and_changes_nothing(api, draft, target, method):
    sent = definition(target=target.pk, repetitions=0)

    status, problem = getattr(api, method)(f"campaigns/{draft}", sent)

    assert status == 400
    assert problem["errors"][0]["field"] == "repetitions"
    assert Campaign.objects.get(pk=draft).repetitions == 3


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_what_was_launched_is_neither_changed_nor_deleted(api, launched, target, method):
    sent = {} if method == "delete" else {"body": {"repetitions": 0}}

    status, problem = getattr(api, method)(f"campaigns/{launched}", **sent)

    assert status == 409
    assert problem["type"] == "urn:perfdash:not-possible"
    assert "was launched" in problem["detail"]
    assert Run.objects.filter(campaign=launched).count() == 6


def test_a_draft_is_deleted_with_a_try_out_that_waits(api, draft):
    api.post(f"campaigns/{draft}/try")

    assert api.delete(f"campaigns/{draft}") == (204, None)
    assert not Campaign.objects.exists()
    assert api.delete(f"campaigns/{draft}")[0] == 404


def test_a_try_out_of_the_former_definition_goes(api, draft):
    api.post(f"campaigns/{draft}/try")
    run = Run.objects.get()
    lifecycle.cancel_run(run, "enough")

    assert api.patch(f"campaigns/{draft}", {"repetitions": 4})[0] == 200
    assert not Run.objects.exists()


@pytest.mark.parametrize("method", ["put", "patch"])
def test_names_that_nobody_reads_are_refused(api, draft, method):
    status, problem = getattr(api, method)(f"campaigns/{draft}", {"launch": True})

    assert status == 400
    assert problem["errors"][0]["field"] == "launch"


def test_a_token_that_may_not_operate_changes_no_draft(owner, draft):
    reader = ApiClient(make_token(owner, "reader", "read")[1])

    answers = [
        reader.patch(f"campaigns/{draft}", {}),
        reader.put(f"campaigns/{draft}", {}),
        reader.delete(f"campaigns/{draft}"),
        reader.post(f"campaigns/{draft}/calibrate"),
    ]

    assert [status for status, _ in answers] == [403] * 4
    assert {problem["type"] for _, problem in answers} == {"urn:perfdash:scope"}


def test_a_campaign_is_calibrated_by_a_draft_of_one_setting(api, launched):
    status, body = api.post(f"campaigns/{launched}/calibrate")

    assert status == 201
    assert body["clone_of"] == launched
    assert body["state"] == "draft"
    assert list(body["definition"]["factors"]) == ["blind_label"]
    assert "A/A" in body["tags"]


def test_a_campaign_from_outside_is_not_calibrated(api, draft):
    Campaign.objects.update(kind="external", target=None)

    status, problem = api.post(f"campaigns/{draft}/calibrate")

    assert status == 400
    assert problem["errors"][0]["field"] == "kind"
    assert Campaign.objects.count() == 1
