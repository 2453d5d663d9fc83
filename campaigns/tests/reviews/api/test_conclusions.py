import pytest

from campaigns.accounts.access import make_token
from campaigns.models import Campaign, Conclusion, Team
from campaigns.reviews.checklist import checklist
from campaigns.tests.findings.compute.conftest import noisy, store
from campaigns.tests.people import somebody
from campaigns.tests.rest import ApiClient
from campaigns.tests.reviews import conftest as reviews

campaign, interleaved, target = reviews.campaign, reviews.interleaved, reviews.target
author, reviewer = reviews.author, reviews.reviewer
pytestmark = pytest.mark.django_db


def client(user):
    return ApiClient(make_token(user, "tests")[1])


@pytest.fixture
def written(author, campaign):
    """The API of its author, and a conclusion with a word on everything."""
    api = client(author)
    status, made = api.post(
        "conclusions", {"claim": "20 wins.", "evidence": [{"campaign": campaign.pk}]}
    )
    assert status == 201, made
    words = {each["name"]: "known" for each in made["checklist"] if each["state"] != "pass"}
    status, made = api.patch(f"conclusions/{made['id']}", {"words": words})
    assert status == 200, made
    return api, made


def send(written, reviewer):
    api, made = written
    status, found = api.post(f"conclusions/{made['id']}/send", {"reviewers": ["rob"]})
    assert status == 200, found
    return api, found


def decision(found, word="approve", **fields):
    seen = {"revision": found["revision"], "data_hash": found["data_hash"]}
    return {"decision": word, "with_failed": True, **seen, **fields}


def test_the_story_of_one(written, reviewer, campaign):
    api, found = send(written, reviewer)
    assert found["state"] == "in_review"
    assert found["asked"][0]["reviewer"] == "rob"
    assert not any(each["missing"] for each in found["checklist"])

    status, accepted = client(reviewer).post(f"conclusions/{found['id']}/decide", decision(found))

    assert (status, accepted["state"], accepted["approvals"]) == (200, "accepted", 1)
    _, listed = api.get("conclusions", state="accepted", campaign=campaign.pk)
    assert [each["id"] for each in listed["results"]] == [found["id"]]
    _, listed = api.get(f"campaigns/{campaign.pk}/conclusions")
    assert [each["claim"] for each in listed["results"]] == ["20 wins."]
    status, _ = api.post(f"campaigns/{campaign.pk}/exclusions", {"run": 3, "reason": "full"})
    assert status == 201
    _, found = api.get(f"conclusions/{found['id']}")
    assert found["state"] == "reopened"
    assert found["reopened_by"][0]["words"] == "Run 3 was excluded by ann: full"


def test_its_author_is_refused_with_409(written, reviewer, author):
    author.memberships.update(roles=["admin"])
    api, found = send(written, reviewer)

    status, problem = api.post(f"conclusions/{found['id']}/decide", decision(found))

    assert status == 409
    assert "author" in problem["detail"]


def test_a_stale_revision_is_refused_with_409(written, reviewer):
    _, found = send(written, reviewer)

    status, problem = client(reviewer).post(
        f"conclusions/{found['id']}/decide", decision(found, revision=7)
    )

    assert status == 409
    assert "revision 7" in problem["detail"]


def test_a_change_of_what_somebody_changed_since_is_refused(written):
    api, found = written
    sent = {"limits": "x", "changed_at": found["changed_at"]}
    assert api.patch(f"conclusions/{found['id']}", sent)[0] == 200

    assert api.patch(f"conclusions/{found['id']}", sent)[0] == 409


def test_what_is_not_sent_stays(written):
    api, found = written

    _, changed = api.patch(f"conclusions/{found['id']}", {"limits": "Small files."})

    assert (changed["claim"], changed["limits"]) == ("20 wins.", "Small files.")
    assert changed["evidence"] == found["evidence"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"evidence": []}, "claim"),
        ({"claim": "x", "evidence": []}, "evidence"),
        ({"claim": "x", "evidence": [{"campaign": 999_999}]}, "evidence.0.campaign"),
        ({"claim": "x", "evidence": [{"campaign": "a"}]}, "evidence.0.campaign"),
        ({"claim": "x", "evidence": [{"campaign": 1}], "state": "accepted"}, "state"),
    ],
)
def test_what_cannot_be_is_refused_by_field(author, body, field):
    status, problem = client(author).post("conclusions", body)

    assert status == 400
    assert field in [each["field"] for each in problem["errors"]]


@pytest.mark.parametrize(
    "contrast",
    [
        {},
        {"factor": []},
        {"factor": {}},
        {"factor": 5},
        {"factor": "concurrency", "at": []},
        {"factor": "concurrency", "candidate": [20], "baseline": 5},
        {"factor": "concurrency", "candidate": 20, "baseline": {"a": 1}},
        {"factor": "concurrency", "candidate": 20, "baseline": 5, "at": {"concurrency": []}},
        {"factor": "concurrency", "candidate": 20, "baseline": 5, "at": {"x" * 500: 1}},
        {"x" * 500: 1},
    ],
)
def test_a_contrast_of_any_shape_is_refused_in_words(author, campaign, contrast):
    evidence = [{"campaign": campaign.pk, "contrast": contrast}]

    status, problem = client(author).post("conclusions", {"claim": "x", "evidence": evidence})

    assert status == 400
    assert [each["field"] for each in problem["errors"]] == ["evidence.0.contrast"]
    assert len(problem["errors"][0]["message"]) < 300


def test_a_contrast_takes_no_levels_of_other_factors(author, campaign):
    contrast = {"factor": "concurrency", "candidate": 20, "baseline": 5}
    evidence = [{"campaign": campaign.pk, "contrast": contrast}]

    status, made = client(author).post("conclusions", {"claim": "x", "evidence": evidence})

    assert status == 201
    assert made["evidence"][0]["contrast"] == {**contrast, "at": {}}


def test_who_cannot_be_asked_is_named(written):
    api, found = written

    status, problem = api.post(f"conclusions/{found['id']}/send", {"reviewers": ["nobody"]})

    assert status == 400
    assert "nobody" in problem["errors"][0]["message"]


def test_a_draft_is_deleted_and_what_was_sent_is_not(written, reviewer, author):
    api, found = written
    assert api.delete(f"conclusions/{found['id']}")[0] == 204
    assert not Conclusion.objects.exists()


def test_it_is_taken_back(written, reviewer):
    api, found = send(written, reviewer)

    status, back = api.post(f"conclusions/{found['id']}/withdraw", {"reason": "Wait."})

    assert (status, back["state"], back["reason"]) == (200, "draft", "Wait.")
    assert api.delete(f"conclusions/{found['id']}")[0] == 409


def test_a_stranger_gets_404_and_a_viewer_403(written):
    _, found = written
    stranger = client(somebody("sam", "admin", team=Team.objects.create(name="others")))
    viewer = client(somebody("vic", "viewer"))

    for path in ("", "/send", "/decide", "/withdraw"):
        method = stranger.post if path else stranger.get
        assert method(f"conclusions/{found['id']}{path}")[0] == 404
    assert viewer.get(f"conclusions/{found['id']}")[0] == 200
    assert viewer.post(f"conclusions/{found['id']}/decide", {})[0] == 403
    assert viewer.patch(f"conclusions/{found['id']}", {})[0] == 403


def test_a_later_campaign_is_compared_with_what_was_accepted(
    written, reviewer, campaign, interleaved
):
    api, found = send(written, reviewer)
    later = interleaved(list(reviews.LEVELS))
    Campaign.objects.filter(pk=later.pk).update(clone_of=campaign)
    store(later, noisy({5: 12.0, 10: 8.0, 20: 7.0}, seed=2))
    reviews.finished(later)
    assert api.get(f"campaigns/{later.pk}/baseline")[1]["conclusion"] is None
    client(reviewer).post(f"conclusions/{found['id']}/decide", decision(found))

    _, baseline = api.get(f"campaigns/{later.pk}/baseline")

    assert baseline["conclusion"]["id"] == found["id"]
    assert baseline["kinship"] == "the same line of clones"
    assert baseline["comparison"]["sentence"]


def test_every_check_has_a_title_and_a_number(written):
    found = Conclusion.objects.get(pk=written[1]["id"])

    assert all(check.title and check.number and check.words for check in checklist(found))
