from random import Random

import pytest

from campaigns.models import Attempt, Campaign, Cell, Level, Run
from campaigns.planning import drafts, lifecycle, storage
from campaigns.planning.checking import check
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(target):
    return drafts.create(check(definition(target=target.pk, seed=5)), None)


def test_a_draft_is_stored_with_factors_levels_and_cells(target):
    sent = definition(
        target=target.pk, factors={"engine": ["new", "old"], "workers": [8, 2, 4]}, tags=["x"]
    )

    campaign = drafts.create(check(sent), None)

    assert campaign.state == Campaign.State.DRAFT
    assert [factor.name for factor in campaign.factors.all()] == ["engine", "workers"]
    assert [str(level) for level in campaign.factors.all()[1].levels.all()] == ["8", "2", "4"]
    assert campaign.cells.count() == 6
    for cell in campaign.cells.all():
        assert {level.value for level in cell.levels.all()} == set(cell.levels_by_factor.values())
    assert not campaign.runs.exists()


def test_levels_that_look_alike_stay_apart(target):
    sent = definition(target=target.pk, order="random", factors={"path": ["1", "1.0", "01"]})

    campaign = drafts.create(check(sent), None)

    assert [cell.levels_by_factor["path"] for cell in campaign.cells.all()] == ["1", "1.0", "01"]


def test_the_longest_levels_that_are_allowed_can_be_stored(target):
    random = Random(1)
    one, two = ("".join(chr(random.randrange(0x4E00, 0x9FFF)) for _ in range(666)) for _ in "12")
    sent = definition(target=target.pk, order="random", factors={"path": [one, two]})

    campaign = drafts.create(check(sent), None)

    assert [cell.levels_by_factor["path"] for cell in campaign.cells.all()] == [one, two]


def test_excluded_combinations_make_no_cell(target):
    sent = definition(
        target=target.pk,
        order="random",
        factors={"engine": ["new", "old"], "workers": [1, 2]},
        excluded=[{"engine": "old", "workers": "2"}],
    )

    campaign = drafts.create(check(sent), None)

    assert campaign.cells.count() == 3
    assert campaign.excluded == [{"engine": "old", "workers": 2}]


def test_what_is_stored_can_be_sent_again(draft):
    again = drafts.create(check(storage.definition_of(draft)), None)

    assert storage.definition_of(again) == storage.definition_of(draft)


def test_a_change_replaces_the_definition(draft, target):
    drafts.change(draft, check(definition(target=target.pk, factors={"workers": [1, 2]})))

    draft.refresh_from_db()
    assert [factor.name for factor in draft.factors.all()] == ["workers"]
    assert Level.objects.count() == 2
    assert Cell.objects.count() == 2


def test_a_change_drops_the_try_outs_of_the_former_definition(draft, target):
    run = lifecycle.try_one(draft, None)
    Run.objects.filter(pk=run.pk).update(state=Run.State.DONE)

    drafts.change(draft, check(definition(target=target.pk)))

    assert not draft.runs.exists()
    assert not draft.sessions.exists()


def test_a_draft_whose_try_out_goes_on_is_not_changed(draft, target):
    run = lifecycle.try_one(draft, None)
    Attempt.objects.create(run=run, number=1, pool="measure", token=1)

    with pytest.raises(drafts.NotADraft, match="try-out"):
        drafts.change(draft, check(definition(target=target.pk)))


def test_a_launched_campaign_is_neither_changed_nor_deleted(draft, target):
    lifecycle.launch(draft, None)

    with pytest.raises(drafts.NotADraft, match="Clone it"):
        drafts.change(draft, check(definition(target=target.pk)))
    draft.refresh_from_db()
    with pytest.raises(drafts.NotADraft, match="Clone it"):
        drafts.delete(draft)


def test_a_stale_copy_of_a_campaign_is_not_deleted_either(draft):
    lifecycle.launch(Campaign.objects.get(pk=draft.pk), None)

    with pytest.raises(drafts.NotADraft):
        drafts.delete(draft)

    assert Campaign.objects.filter(pk=draft.pk).exists()


@pytest.mark.parametrize("state", [Run.State.PLANNED, Run.State.DONE])
def test_a_draft_is_deleted_with_its_try_outs(draft, state):
    run = lifecycle.try_one(draft, None)
    Run.objects.filter(pk=run.pk).update(state=state)

    drafts.delete(draft)

    assert not Campaign.objects.exists()
    assert not Run.objects.exists()


def test_a_try_out_that_nobody_has_claimed_goes_with_its_draft(draft):
    run = lifecycle.try_one(draft, None)
    Attempt.objects.create(run=run, number=1, pool="measure", token=1)

    drafts.delete(draft)

    assert not Attempt.objects.exists()


def test_a_draft_whose_try_out_goes_on_is_not_deleted(draft):
    run = lifecycle.try_one(draft, None)
    Attempt.objects.create(
        run=run, number=1, pool="measure", token=1, state="running", claimed_at=draft.created_at
    )

    with pytest.raises(drafts.NotADraft, match="try-out"):
        drafts.delete(draft)
