import pytest

from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.kit.errors import Invalid, NotConfirmed, NotPossible
from campaigns.models import Campaign, LogLine
from campaigns.planning import drafts, lifecycle, storage
from campaigns.planning.amending import AMENDABLE, amend
from campaigns.planning.amendments import amendments_of
from campaigns.planning.checking import check
from campaigns.planning.design import FIELDS, LOCKED
from campaigns.results.importing import demonstration
from campaigns.tests.people import somebody
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db

EVERY = {
    "question": "How many workers are enough?",
    "primary_metric": "rate",
    "primary_contrast": {"factor": "workers", "candidate": 8, "baseline": 2},
    "smallest_effect_percent": 2,
    "margin_percent": 1,
    "failed_limit_percent": 10,
    "criterion": {"conditions": [{"metric": "duration", "at_most": "3 min"}]},
    "stop_rule": "precision",
    "stop_width_percent": 4,
    "stop_most": 12,
}
STORED = {
    "question": "How many workers are enough?",
    "primary_metric": "rate",
    "primary_contrast": {"factor": "workers", "candidate": 8, "baseline": 2, "at": {}},
    "smallest_effect": 0.02,
    "margin": 0.01,
    "failed_limit": 0.1,
    "criterion": {"conditions": [{"metric": "duration", "at_most": 180}]},
    "stop_rule": "precision",
    "stop_width": 0.04,
    "stop_most": 12,
}


@pytest.fixture
def draft(target):
    data = {"factors": {"workers": [2, 4, 8]}, "order": "interleaved"}
    return drafts.create(check(definition(target=target.pk, **data)), None)


@pytest.fixture
def campaign(draft):
    return lifecycle.launch(draft, None)


def refused(campaign, changes, reason="agreed"):
    with pytest.raises(Invalid) as caught:
        amend(campaign, changes, reason, None)
    return caught.value.errors


def test_everything_that_is_locked_can_be_amended_but_how_pairs_are_made(campaign):
    assert set(STORED) == {
        "primary_metric",
        "primary_contrast",
        "criterion",
        *(FIELDS[name].column for name in LOCKED),
    }
    assert {*EVERY, "roles"} == set(AMENDABLE)

    made = amend(campaign, EVERY, "agreed", None)

    campaign.refresh_from_db()
    assert {name: getattr(campaign, name) for name in STORED} == STORED
    assert {row.field: row.after for row in made} == STORED


@pytest.mark.parametrize("name", [*EVERY, "repetitions", "order", "paired_factor"])
def test_no_plain_edit_changes_a_launched_campaign(campaign, name):
    data = storage.definition_of(campaign) | EVERY | {"repetitions": 9, "stop_most": 20}

    with pytest.raises(drafts.NotADraft, match="its definition is fixed"):
        drafts.change(campaign, check(data))
    before = storage.definition_of(campaign).get(name)
    campaign.refresh_from_db()
    assert storage.definition_of(campaign).get(name) == before


def test_who_when_why_and_from_what_to_what_is_on_record(campaign):
    ann = somebody("ann")

    (made,) = amend(campaign, {"smallest_effect_percent": "2.5"}, "2.5 % pays already.", ann)

    made.refresh_from_db()
    assert (made.field, made.before, made.after) == ("smallest_effect", 0.05, 0.025)
    assert (made.user, made.reason) == (ann, "2.5 % pays already.")
    assert made.at is not None
    (line,) = amendments_of(campaign)
    assert line.remark == (
        "Amended after launch: smallest effect of interest 5 % → 2.5 %, by ann: 2.5 % pays already."
    )
    assert LogLine.objects.filter(text__startswith="amended by ann: smallest effect").exists()


def test_what_stays_as_it_is_is_no_amendment(campaign):
    made = amend(campaign, {"margin_percent": 2, "smallest_effect_percent": 3}, "agreed", None)

    assert [row.field for row in made] == ["smallest_effect"]
    assert refused(campaign, {"margin_percent": 2.0}) == {
        "": ["Nothing would change; what you sent is what the campaign has."]
    }
    assert refused(campaign, {})[""]


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"question": " "}, "question", "required"),
        ({"question": "a\u202eb"}, "question", "control character"),
        ({"question": ["a"]}, "question", "Give one value"),
        ({"primary_metric": "speed"}, "primary_metric", "“speed” is not a metric with a direction"),
        ({"primary_metric": None}, "primary_metric", "is not a metric"),
        ({"smallest_effect_percent": "much"}, "smallest_effect_percent", "Enter a number."),
        ({"smallest_effect_percent": 0}, "smallest_effect_percent", "greater than or equal"),
        ({"smallest_effect_percent": float("nan")}, "smallest_effect_percent", "Enter a number."),
        ({"smallest_effect_percent": 1}, "margin_percent", "wider than the smallest effect"),
        ({"smallest_effect_percent": ""}, "smallest_effect_percent", "Give a value"),
        ({"margin_percent": 6}, "margin_percent", "wider than the smallest effect"),
        ({"stop_rule": "p below 0.05"}, "stop_rule", "Select a valid choice"),
        ({"stop_rule": "precision", "stop_most": 7}, "stop_most", "greater than or equal to 8"),
        ({"stop_width_percent": 4}, "stop_width_percent", "Only a stop by precision has it"),
        ({"primary_contrast": {"factor": "engine"}}, "primary_contrast", "“engine” is none"),
        ({"repetitions": 9}, "repetitions", "It cannot be amended"),
        ({"baseline": "old"}, "baseline", "It cannot be amended"),
    ],
)
def test_what_cannot_be_is_said_at_its_field_and_nothing_is_changed(campaign, changes, path, words):
    before = storage.definition_of(campaign)

    errors = refused(campaign, changes)

    assert words in errors[path][0]
    campaign.refresh_from_db()
    assert storage.definition_of(campaign) == before
    assert not campaign.amendments.exists()


@pytest.mark.parametrize("reason", ["", "  ", "a\x00b", "x" * 2001])
def test_a_reason_is_needed(campaign, reason):
    assert refused(campaign, {"question": "Why?"}, reason)["reason"]


def test_a_draft_is_edited(draft):
    with pytest.raises(NotPossible, match="edit the draft"):
        amend(draft, {"question": "Why?"}, "agreed", None)


def test_blocks_that_are_planned_are_not_taken_back(campaign):
    amend(campaign, {"stop_rule": "precision", "stop_most": 12}, "agreed", None)
    campaign = lifecycle.extend(campaign, 10, None)

    assert "13 blocks at least" in refused(campaign, {"stop_most": 12 - 1})["stop_most"][0]


def test_only_orders_of_blocks_go_on_block_by_block(target):
    data = {"factors": {"workers": [2, 4]}, "order": "random"}
    made = drafts.create(check(definition(target=target.pk, **data)), None)

    errors = refused(lifecycle.launch(made, None), {"stop_rule": "precision"})

    assert "Only interleaved and paired" in errors["stop_rule"][0]


@pytest.mark.parametrize("state", ["finished", "cancelled"])
def test_a_stop_rule_that_has_ruled_stays(campaign, state):
    Campaign.objects.filter(pk=campaign.pk).update(state=state)

    with pytest.raises(NotPossible, match="its stop rule has been applied"):
        amend(campaign, {"stop_rule": "precision"}, "agreed", None)
    assert amend(campaign, {"margin_percent": 1}, "agreed", None)


def test_to_go_on_loading_a_production_server_takes_its_name(campaign):
    campaign.target.is_production = True
    campaign.target.save()

    with pytest.raises(NotConfirmed):
        amend(campaign, {"stop_rule": "precision"}, "agreed", None)
    assert not campaign.amendments.exists()
    assert amend(campaign, {"margin_percent": 1}, "agreed", None)
    assert amend(campaign, {"stop_rule": "precision"}, "agreed", None, campaign.target.name)


def test_an_amended_answer_says_so(campaign):
    ann = somebody("ann")
    amend(campaign, {"smallest_effect_percent": 2}, "It pays.", ann)

    assert [line.remark for line in amendments_of(campaign)] == [
        "Amended after launch: smallest effect of interest 5 % → 2 %, by ann: It pays."
    ]


def test_looking_at_the_precision_is_paid_for_even_where_the_rule_is_amended(campaign):
    def alpha():
        compute.analyse(campaign)
        return campaign.findings.get(name="levels").data_hash

    fixed = alpha()
    amend(campaign, {"stop_rule": "precision"}, "agreed", None)
    adaptive = alpha()
    amend(campaign, {"stop_rule": "fixed"}, "no time", None)
    again = alpha()

    assert len({fixed, adaptive, again}) == 3
    lines = [(line.before, line.after) for line in amendments_of(campaign)]
    assert lines == [
        ("fixed number of blocks", "until precise enough"),
        ("until precise enough", "fixed number of blocks"),
    ]


def test_an_import_can_be_amended_as_well():
    campaign, _ = demonstration.published_campaign(None)
    contrast = {"candidate": 7, "baseline": 5}

    made = amend(campaign, {"primary_contrast": contrast, "margin_percent": 1}, "agreed", None)

    assert {row.field for row in made} == {"primary_contrast", "margin"}
    compute.analyse(campaign)
    sentence = answers_of([campaign.pk])[campaign.pk].sentence
    assert sentence == "Concurrency 7 is 15.1 % faster than 5, if nothing else changed meanwhile."


def test_a_criterion_is_amended_as_a_whole_and_told(campaign):
    amend(campaign, {"criterion": {"failed_percent": 5}}, "agreed", None)
    amend(campaign, {"criterion": None}, "not needed", None)

    first, second = amendments_of(campaign)
    assert (first.before, first.after) == ("none", "at most 5 % of the work fails")
    assert second.after == "none"
    assert "criterion" not in storage.definition_of(Campaign.objects.get(pk=campaign.pk))


def test_an_unfit_criterion_is_refused_where_it_is(campaign):
    wrong = {"conditions": [{"metric": "speed", "at_most": 5}]}

    assert "“speed” is not a metric" in str(refused(campaign, {"criterion": wrong}))


def with_slow(target):
    data = {"factors": {"workers": [2, 4], "slow": [1, 2]}, "order": "interleaved"}
    return lifecycle.launch(drafts.create(check(definition(target=target.pk, **data)), None), None)


def test_what_may_be_load_can_become_it_after_launch(target):
    campaign = with_slow(target)

    amend(campaign, {"roles": {"slow": "load"}}, "it asks about the server", None)

    assert storage.definition_of(campaign)["roles"] == {"slow": "load"}
    (line,) = amendments_of(campaign)
    assert (line.label, line.before, line.after) == ("roles", "slow setting", "slow load")
    amend(campaign, {"roles": {"slow": "setting"}}, "no", None)
    assert "roles" not in storage.definition_of(campaign)


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        ({"workers": "load"}, "slow may be declared load"),
        ({"speed": "load"}, "“speed” does not vary"),
        (["slow"], "Give the role of each factor"),
    ],
)
def test_other_roles_are_refused(target, roles, words):
    assert words in str(refused(with_slow(target), {"roles": roles}))


def test_a_contrast_between_loads_has_to_go_first(target):
    campaign = with_slow(target)
    contrast = {"factor": "slow", "candidate": 2, "baseline": 1}
    amend(campaign, {"primary_contrast": contrast}, "agreed", None)

    assert "amend the primary contrast besides" in str(
        refused(campaign, {"roles": {"slow": "load"}})
    )
    amend(campaign, {"roles": {"slow": "load"}, "primary_contrast": None}, "agreed", None)
    assert "slow is load" in str(refused(campaign, {"primary_contrast": contrast}))


def test_an_import_can_be_given_roles_and_a_criterion():
    campaign, _ = demonstration.published_campaign(None)

    assert "is no role" in str(refused(campaign, {"roles": {"concurrency": "much"}}))
    amend(campaign, {"roles": {"concurrency": "load"}}, "it was asked of the server", None)

    assert storage.definition_of(campaign)["roles"] == {"concurrency": "load"}
