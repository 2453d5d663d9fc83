import pytest

from campaigns.kit.errors import Invalid
from campaigns.planning import drafts, lifecycle, preview, storage
from campaigns.planning.checking import check
from campaigns.planning.expected import expected_seconds
from campaigns.tests.toy import Toy, definition

pytestmark = pytest.mark.django_db

BLIND = {"factors": {}, "paired_factor": "blind_label", "order": "paired"}


def checked(target, **changes):
    return check(definition(target=target.pk, **(BLIND | changes)))


def test_a_blind_label_is_a_pair_of_one_setting(target):
    found = checked(target)

    assert dict(found.factors) == {"blind_label": ("A", "B")}
    assert (found.campaign.paired_factor, found.campaign.baseline) == ("blind_label", "A")
    stored = storage.definition_of(drafts.create(found, None))
    unnamed = check(stored | {"factors": {}})
    assert storage.definition_of(drafts.create(unnamed, None)) == stored


def test_the_plan_says_what_it_is(target):
    texts = [text for _, text in preview.preview(checked(target)).remarks]

    assert any(text.startswith("A/A: both labels are one setting.") for text in texts)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"order": "interleaved", "paired_factor": ""}, "choose the order “paired”"),
        ({"paired_factor": "engine"}, "choose the order “paired”"),
        ({"factors": {"blind_label": ["A", "C"]}}, "Its levels are A and B."),
        ({"factors": {"blind_label": ["B", "A"]}}, "Its levels are A and B."),
        ({"factors": {"blind_label": 5}}, "Its levels are A and B."),
    ],
)
def test_a_blind_label_is_nothing_else(target, changes, words):
    changes = {"factors": {"blind_label": ["A", "B"], "engine": ["new", "old"]}} | changes
    with pytest.raises(Invalid) as caught:
        checked(target, **changes)

    assert words in caught.value.errors["factors.blind_label"][0]


def test_a_kind_is_never_told_the_label(target, monkeypatch):
    told = []

    def noted(self, parameters):
        told.append(dict(parameters))
        return 1.0

    monkeypatch.setattr(Toy, "estimate_seconds", noted)
    monkeypatch.setattr(Toy, "concurrency", noted)

    found = checked(target)
    preview.preview(found)
    campaign = lifecycle.launch(drafts.create(found, None), None)
    expected_seconds(campaign.runs.get(position=1))

    assert len(told) >= 4
    assert all("blind_label" not in parameters for parameters in told)
