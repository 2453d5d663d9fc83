import pytest

from campaigns.kit.structs import Problems
from campaigns.models import Campaign
from campaigns.planning import design
from campaigns.planning.api.inputs import AmendInput
from campaigns.planning.api.schemas import definition_schema
from campaigns.planning.reading import decode

SHARES = {"smallest_effect": 0.07, "margin": 0.015, "failed_limit": 0.1, "max_failed_share": 0.125}


@pytest.mark.parametrize("name", design.FIELDS)
def test_a_field_is_in_the_model_the_api_and_the_schema(name):
    assert Campaign._meta.get_field(design.FIELDS[name].column).name
    assert name in definition_schema()["properties"]


@pytest.mark.parametrize("name", design.LOCKED)
def test_what_launch_locks_can_be_amended(name):
    assert name in AmendInput.only
    assert {*AmendInput.only}.isdisjoint(design.FIELDS.keys() - set(design.LOCKED))


def test_what_is_read_out_of_a_campaign_fills_another_one_alike():
    campaign = Campaign(
        team_id=None,
        question="Which one?",
        name="one",
        order="paired",
        repetitions=8,
        stop_rule="precision",
        stop_width=0.045,
        time_budget_seconds=5400,
        pool="measure-far",
        settings_afterwards="keep",
        tags=["a", "b"],
        **SHARES,
    )

    problems = Problems()
    sent = decode(design.values_of(campaign) | {"baseline": None}, problems)

    columns = design.as_columns(sent) | {"baseline": None}
    assert problems == {}
    assert columns == {column: getattr(campaign, column) for column in design.COLUMNS}


def test_a_definition_names_what_was_added_later_only_where_somebody_chose_it():
    plain = design.values_of(Campaign(team_id=None))

    assert design.FIELDS.keys() - plain == {
        "settings_afterwards",
        "pool",
        "stop_width_percent",
        "stop_most",
        "required_checks",
        "unfit_reason",
        "requires_watch",
        "server_wait_seconds",
        "anew",
    }
    assert design.values_of(Campaign(team_id=None), every=True).keys() == design.FIELDS.keys()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("smallest_effect_percent", 0.025, "2.5 %"),
        ("stop_width_percent", 0.04, "±4 %"),
        ("stop_rule", "precision", "until precise enough"),
        ("stop_most", 12, "12"),
        ("question", "Which?", "“Which?”"),
    ],
)
def test_a_value_is_written_as_a_sentence_names_it(name, value, words):
    assert design.FIELDS[name].as_text(value) == words


@pytest.mark.parametrize(
    ("sent", "read"), [(True, True), ("on", True), (False, False), ("false", False), (None, False)]
)
def test_yes_and_no_are_true_and_false_or_what_a_checkbox_sends(sent, read):
    problems = Problems()

    assert decode({"requires_watch": sent}, problems).requires_watch is read
    assert "requires_watch" not in problems


@pytest.mark.parametrize("sent", ["no", "NO", "off", "0", "yes", "x", 2, 0.5])
def test_no_other_text_is_taken_for_yes(sent):
    problems = Problems()
    decode({"requires_watch": sent}, problems)

    assert problems["requires_watch"] == ["Give true or false."]
