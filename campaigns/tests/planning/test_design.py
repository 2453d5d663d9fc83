import pytest

from campaigns.kit.forms import messages_of
from campaigns.models import Campaign
from campaigns.planning import design
from campaigns.planning.api.design_shapes import Definition
from campaigns.planning.api.inputs import AmendInput, CampaignInput
from campaigns.planning.api.schemas import definition_schema

SHARES = {"smallest_effect": 0.07, "margin": 0.015, "failed_limit": 0.1, "max_failed_share": 0.125}


@pytest.mark.parametrize("name", design.FIELDS)
def test_a_field_is_in_the_model_the_api_and_the_schema(name):
    assert Campaign._meta.get_field(design.FIELDS[name].column).name
    assert name in CampaignInput().fields
    assert name in Definition().fields
    assert name in definition_schema()["properties"]


@pytest.mark.parametrize("name", design.LOCKED)
def test_what_launch_locks_can_be_amended(name):
    assert name in AmendInput().fields
    assert AmendInput().fields.keys().isdisjoint(design.FIELDS.keys() - set(design.LOCKED))


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

    form = design.DesignForm(design.values_of(campaign) | {"tags": "a, b"})

    assert form.is_valid(), messages_of(form)
    clean = form.cleaned_data | {"baseline": None}
    columns = design.as_columns(clean)
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
