"""Several targets in one campaign: what may be compared, in which order, and what the preview tells."""

import pytest

from campaigns.kit.errors import Invalid, NotConfirmed, NotPossible
from campaigns.models import Campaign, Factor, Target, Team
from campaigns.planning import checking, drafts, lifecycle, storage, templates
from campaigns.planning.calibrating import calibration_of
from campaigns.planning.lifecycle import name_to_confirm
from campaigns.planning.plan import plan_runs
from campaigns.planning.preview import preview
from campaigns.targets.machines import shared_machines
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(target):
    """Make one more target: `server("b", "127.0.0.2")`; of the family and team of the first."""

    def make(name, host, **changes):
        address = f"{host}:9"
        of = {"family": "http", "base_url": f"http://{address}", "address": address}
        return Target.objects.create(name=name, **of | changes)

    return make


@pytest.fixture
def three(target, server, settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.0/8:9"
    return [target, server("b", "127.0.0.2"), server("c", "127.0.0.3")]


def side_by_side(targets, **changes):
    data = {"target": None, "targets": [each.pk for each in targets], "order": "interleaved"}
    return definition(**data | {"factors": {"engine": ["new", "old"]}, "repetitions": 3} | changes)


def errors_of(data):
    with pytest.raises(Invalid) as refused:
        checking.check(data)
    return refused.value.errors


def test_targets_are_a_factor_that_comes_first(three):
    campaign = drafts.create(checking.check(side_by_side(three)), None)

    factor = campaign.factors.get(position=1)
    assert (factor.name, factor.role) == ("target", Factor.Role.TARGET)
    assert [level.value for level in factor.levels.all()] == ["toy server", "b", "c"]
    assert campaign.target == three[0]
    assert campaign.targets == three
    for cell in campaign.cells.all():
        assert str(cell.target) == cell.levels_by_factor["target"]


def test_a_single_target_stays_as_it_was(target):
    one = drafts.create(checking.check(definition(target=target.pk)), None)
    other = drafts.create(checking.check(definition(target=None, targets=[target.pk])), None)

    assert one.targets == other.targets == [target]
    assert not other.places.exists()
    assert "targets" not in storage.definition_of(one)
    assert storage.definition_of(one) == storage.definition_of(other) | {"seed": one.seed}


def test_a_clone_and_a_template_have_the_same_targets(three, django_user_model):
    made = drafts.create(checking.check(side_by_side(three)), None)
    clone = drafts.create(checking.check(storage.definition_of(made)), None)
    user = django_user_model.objects.create(username="ann", is_superuser=True)
    template = templates.make_template(made, {"name": "three of them"}, user)

    assert storage.definition_of(clone) == storage.definition_of(made)
    assert templates.begin(template, {"question": "Again?"}, user).targets == three
    alone = templates.begin(template, {"question": "Alone?", "target": three[2].pk}, user)
    assert alone.targets == [three[2]]


def test_a_change_of_the_target_replaces_all_of_them(three):
    made = drafts.create(checking.check(side_by_side(three)), None)

    assert storage.with_changes(made, {"target": three[1].pk})["targets"] is None
    assert storage.with_changes(made, {"targets": [3, 4]})["target"] is None


def test_what_cannot_be_compared_is_refused(three, server):
    a, b, _ = three
    pulp = server("p", "127.0.0.4", family="pulp")
    twin = server("twin", "127.0.0.2", address=b.address)
    other = server("far", "127.0.0.5", team=Team.objects.create(name="others"))
    gone = server("gone", "127.0.0.6", retired_at="2026-01-01T00:00Z")
    many = [server(f"m{n}", f"127.0.1.{n}") for n in range(7)]

    assert "is a pulp server" in errors_of(side_by_side([a, pulp]))["targets"][0]
    assert "there twice" in errors_of(side_by_side([a, a]))["targets"][0]
    assert "are the same server" in errors_of(side_by_side([b, twin]))["targets"][0]
    assert "different teams" in errors_of(side_by_side([a, other]))["targets"][0]
    assert "no target" in errors_of(side_by_side([a, gone]))["targets"][0]
    assert errors_of(side_by_side(many))["targets"] == ["7 targets; compare at most 6 at once."]
    assert "a list" in errors_of(side_by_side([a]) | {"targets": "b"})["targets"][0]
    assert "not the first" in errors_of(side_by_side([a, b], target=b.pk))["target"][0]
    with_factor = definition(target=a.pk, factors={"target": ["x", "y"]})
    assert "as “targets”" in errors_of(with_factor)["factors.target"][0]
    seen_only = Target.objects.filter(pk=a.pk)
    with pytest.raises(Invalid, match="no target"):
        checking.check(side_by_side([a, b]), seen_only)


def test_an_owners_limit_counts_for_its_own_cells_alone(three):
    three[1].max_concurrency = 2
    three[1].save()

    data = side_by_side(three, factors={"workers": [1, 4]})
    assert "“b”" in str(errors_of(data))
    fitting = data | {"excluded": [{"target": "b", "workers": 4}]}
    assert len(plan_runs(checking.check(fitting).design).cells) == 5


def test_a_setting_has_to_be_there_on_each(three):
    setting = {"name": "threads", "type": "integer", "apply": {}, "read_back": {}}
    three[0].setting_rows.create(**setting)
    data = side_by_side(three[:2], factors={"threads": [1, 2]})
    assert "On “b”: it has no setting “threads”" in errors_of(data)["factors.threads"][0]

    three[1].setting_rows.create(**setting | {"maximum": 1})
    assert "On “b”" in errors_of(data)["factors.threads"][0]


def test_cells_of_a_target_stay_together_where_settings_are_set(three):
    for target in three:
        target.setting_rows.create(
            name="threads", type="integer", apply={}, read_back={}, hard_to_change=True
        )
    data = side_by_side(three, factors={"threads": [1, 2], "engine": ["new", "old"]})
    checked = checking.check(data)

    assert checked.hard_to_change == ("target", "threads")
    plan = plan_runs(checked.design)
    for block in {run.block for run in plan.runs}:
        mine = [plan.cells[run.cell] for run in plan.runs if run.block == block]
        names = [cell["target"] for cell in mine]
        assert [names[index : index + 4] for index in (0, 4, 8)] == [
            [names[index]] * 4 for index in (0, 4, 8)
        ]
        pairs = [(cell["target"], cell["threads"]) for cell in mine]
        assert len({pair for pair in pairs if pairs.index(pair) % 2}) == 0
    free = checking.check(data | {"hard_to_change": []})
    assert free.hard_to_change == ()


def test_targets_without_settings_are_interleaved(three):
    assert checking.check(side_by_side(three)).hard_to_change == ()


def test_the_preview_tells_order_state_and_shared_machines(three):
    result = preview(checking.check(side_by_side(three)))
    texts = " ".join(text for _, text in [*result.remarks, *result.found])

    assert "3 targets side by side: toy server, b, c" in texts
    assert "run on one machine" in texts  # all are loopback addresses
    assert "c is not probed yet." in texts
    assert result.measured_runs == 18


def test_machines_are_shared_by_address_and_by_what_owners_say(server):
    a = server("a", "192.0.2.1", runs_on="rack 7")
    b = server("b", "192.0.2.2", runs_on="Rack 7 ")
    c = server("c", "192.0.2.3")
    d = server("d", "192.0.2.3", address="d", base_url="http://192.0.2.3:10")

    assert shared_machines([a, c]) == []
    assert shared_machines([a, b, c, d]) == [["a", "b"], ["c", "d"]]


def test_production_servers_are_confirmed_by_all_their_names(three):
    Target.objects.filter(pk__in=[three[0].pk, three[2].pk]).update(is_production=True)
    made = drafts.create(checking.check(side_by_side(three)), None)

    assert name_to_confirm(made) == "toy server, c"
    for wrong in ("", "toy server", "c"):
        with pytest.raises(NotConfirmed):
            lifecycle.launch(made, None, wrong)
    lifecycle.launch(made, None, "toy server, c")
    assert Campaign.objects.get().state == Campaign.State.RUNNING


def test_two_that_turn_out_to_be_one_server_are_not_launched(three):
    made = drafts.create(checking.check(side_by_side(three)), None)
    Target.objects.filter(pk=three[1].pk).update(address=three[0].address)

    with pytest.raises(NotPossible, match="are the same server"):
        lifecycle.launch(Campaign.objects.get(pk=made.pk), None)


def test_each_team_of_a_server_may_require_two_people(three):
    made = drafts.create(checking.check(side_by_side(three)), None)
    Target.objects.filter(pk=three[2].pk).update(is_production=True)
    Team.objects.update(second_for_production=True)

    assert lifecycle.takes_two(Campaign.objects.get(pk=made.pk))


def test_a_calibration_measures_one_of_them(three):
    result = calibration_of(checking.check(side_by_side(three)))

    assert result.targets == (three[0],)
    assert drafts.create(result, None).targets == [three[0]]
