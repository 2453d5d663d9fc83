import pytest

from campaigns.models import Target
from campaigns.planning import drafts
from campaigns.planning.checking import check
from campaigns.tests.toy import definition


@pytest.fixture
def draft(owner, target):
    return drafts.create(check(definition(target=target.pk, seed=5)), owner)


def test_a_campaign_goes_into_the_archive_and_out_of_it(api, draft):
    status, archived = api.post(f"campaigns/{draft.pk}/archive")
    assert status == 200
    assert archived["archived_at"]

    assert api.get("campaigns")[1]["results"] == []
    for word in ("true", "all"):
        assert len(api.get("campaigns", archived=word)[1]["results"]) == 1

    api.post(f"campaigns/{draft.pk}/unarchive")

    assert len(api.get("campaigns", archived="false")[1]["results"]) == 1
    assert api.get("campaigns", archived="perhaps")[0] == 400


def test_disk_used_is_told_by_kind(api, owner, draft):
    status, used = api.get("storage")

    assert status == 200
    assert isinstance(used["results"], list)


def test_the_rule_of_a_team_is_set_and_taken_back(api, draft):
    path = f"storage/teams/{draft.team_id}"

    assert api.patch(path, {"keep_samples_days": 90})[1]["keep_samples_days"] == 90
    assert api.get(path)[1]["keep_samples_days"] == 90
    assert api.patch(path, {"keep_samples_days": None})[1]["keep_samples_days"] is None


@pytest.mark.parametrize("days", [0, -3, "x", 10**12])
def test_a_rule_that_is_none_is_a_problem(api, draft, days):
    status, problem = api.patch(f"storage/teams/{draft.team_id}", {"keep_samples_days": days})

    assert status == 400
    assert problem["errors"][0]["field"] == "keep_samples_days"


def test_a_target_is_deleted_when_nothing_depends_on_it(api, draft, target):
    _, told = api.get(f"targets/{target.pk}/dependants")
    assert [(each["kind"], each["count"]) for each in told["results"]] == [("drafts", 1)]
    status, problem = api.delete(f"targets/{target.pk}")
    assert status == 409
    assert "drafts: 1" in problem["detail"]

    drafts.delete(draft)

    assert api.get(f"targets/{target.pk}/dependants")[1]["results"] == []
    assert api.delete(f"targets/{target.pk}")[0] == 204
    assert not Target.objects.exists()
