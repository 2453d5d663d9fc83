import pytest

from campaigns.models import Amendment, Campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def launched(api, draft):
    assert api.post(f"campaigns/{draft}/launch")[0] == 200
    return draft


def test_what_is_locked_is_amended_with_a_reason(api, launched, owner):
    body = {"reason": "It pays.", "smallest_effect_percent": 2, "question": "Is it worth it?"}

    status, answer = api.post(f"campaigns/{launched}/amend", body)

    assert status == 200
    assert answer["question"] == "Is it worth it?"
    assert answer["definition"]["smallest_effect_percent"] == 2
    told = {each["label"]: each for each in answer["amendments"]}
    assert told["smallest effect of interest"]["before"] == "5 %"
    assert {each["by"] for each in told.values()} == {"owner"}
    assert Campaign.objects.get().analysis_requested_at is not None
    assert Amendment.objects.filter(user=owner).count() == 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"question": "Why?"}, "reason"),
        ({"reason": "x", "margin_percent": 80}, "margin_percent"),
        ({"reason": "x", "primary_contrast": {"factor": "note"}}, "primary_contrast"),
        ({"reason": "x", "primary_contrast": "7 against 5"}, "primary_contrast"),
        ({"reason": "x", "repetitions": 4}, "repetitions"),
        ({"reason": 5, "question": {"a": 1}}, "question"),
        ({"reason": "x"}, ""),
    ],
)
def test_what_cannot_be_is_refused_by_field(api, launched, body, field):
    status, answer = api.post(f"campaigns/{launched}/amend", body)

    assert status == 400
    assert field in [error["field"] for error in answer["errors"]]
    assert not Amendment.objects.exists()


def test_a_draft_has_nothing_to_amend(api, draft):
    status, answer = api.post(f"campaigns/{draft}/amend", {"reason": "x", "question": "Why?"})

    assert status == 409
    assert "edit the draft" in answer["detail"]


def test_a_primary_contrast_comes_back_as_it_was_sent(api, target):
    contrast = {"factor": "workers", "candidate": 8, "baseline": 2, "at": {"engine": "old"}}
    body = {
        "kind": "toy",
        "question": "How many?",
        "target": target.pk,
        "parameters": {"path": "/a"},
        "factors": {"workers": [2, 8], "engine": ["new", "old"]},
        "primary_contrast": contrast,
        "repetitions": 3,
    }

    status, answer = api.post("campaigns", body)
    assert status == 201
    assert answer["definition"]["primary_contrast"] == contrast

    changed = {"factors": {"workers": [2, 4]}}
    status, answer = api.post(f"campaigns/{answer['id']}/clone", changed)
    assert (status, answer["errors"][0]["field"]) == (400, "primary_contrast")
