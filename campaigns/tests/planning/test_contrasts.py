import pytest

from campaigns.kit.charts.labels import contrast_label
from campaigns.kit.errors import Invalid
from campaigns.planning import drafts, storage
from campaigns.planning.checking import check
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db

WORKERS = {"factors": {"workers": [2, 4, 8], "engine": ["new", "old"]}, "order": "interleaved"}


def checked(target, contrast, **changes):
    return check(definition(target=target.pk, **(WORKERS | changes), primary_contrast=contrast))


def refused(target, contrast, **changes):
    with pytest.raises(Invalid) as caught:
        checked(target, contrast, **changes)
    ((path, (message, *_)), *_) = caught.value.errors.items()
    assert path.startswith("primary_contrast")
    return message


@pytest.mark.parametrize("nothing", [None, "", {}])
def test_a_campaign_need_not_name_one(target, nothing):
    assert checked(target, nothing).campaign.primary_contrast is None


def test_levels_are_read_as_their_field_reads_them(target):
    contrast = {"factor": "workers", "candidate": "8", "baseline": 4.0, "at": {"engine": "old"}}

    assert checked(target, contrast).campaign.primary_contrast == {
        "factor": "workers",
        "candidate": 8,
        "baseline": 4,
        "at": {"engine": "old"},
    }


@pytest.mark.parametrize("nothing", [None, "", {}])
def test_other_levels_need_not_be_named(target, nothing):
    found = checked(target, {"factor": "engine", "at": nothing}).campaign.primary_contrast

    assert found["at"] == {}


def test_of_two_levels_the_first_is_the_baseline(target):
    found = checked(target, {"factor": "engine"}).campaign.primary_contrast

    assert (found["baseline"], found["candidate"]) == ("new", "old")
    assert found["at"] == {}


def test_a_single_factor_need_not_be_named(target):
    found = checked(target, {"candidate": 4, "baseline": 2}, factors={"workers": [2, 4]})

    assert found.campaign.primary_contrast["factor"] == "workers"


@pytest.mark.parametrize(
    ("contrast", "words"),
    [
        ("7 against 5", "Give factor, candidate and baseline"),
        (["workers"], "Give factor, candidate and baseline"),
        ({"factor": "workers", "level": 2}, "There is no field “level” here"),
        ({"factor": "slow", "candidate": 1, "baseline": 0}, "“slow” is none: workers, engine."),
        ({"candidate": 4, "baseline": 2}, "Say of which: workers, engine."),
        ({"factor": "workers"}, "Say which level is the baseline: 2, 4, 8."),
        ({"factor": "workers", "baseline": 2}, "Say which level is the candidate"),
        ({"factor": "workers", "baseline": 2, "candidate": 5}, "“5” is not a level of workers"),
        ({"factor": "workers", "baseline": 2, "candidate": "x"}, "“x” is not a level of workers"),
        ({"factor": "workers", "baseline": 4, "candidate": 4}, "are both 4; choose two levels"),
        ({"factor": "workers", "baseline": {}, "candidate": [4]}, "Give one level"),
        ({"factor": ["workers"], "baseline": 2, "candidate": 4}, "Give the name of a factor."),
        ({"factor": "engine", "at": "workers=2"}, "Give “at” as levels by factor"),
        ({"factor": "engine", "at": {"engine": "new"}}, "“at” names levels of other factors"),
        ({"factor": "engine", "at": {"slow": 1}}, "“slow” in “at” does not vary"),
        ({"factor": "engine", "at": {"workers": 3}}, "“3” is not a level of workers"),
    ],
)
def test_what_names_no_two_levels_is_refused(target, contrast, words):
    assert words in refused(target, contrast)


def test_levels_of_other_work_are_not_compared(target):
    said = refused(
        target,
        {"factor": "path", "candidate": "/a", "baseline": "/b"},
        factors={"path": ["/a", "/b"], "workers": [2, 4]},
        parameters={},
    )

    assert said == "Cells of another path do other work, and are not compared."


def test_a_cell_that_is_excluded_cannot_be_compared(target):
    contrast = {"factor": "workers", "candidate": 8, "baseline": 2, "at": {"engine": "old"}}
    excluded = [{"workers": 8, "engine": "old"}]

    assert "8 and 2 are measured together nowhere at engine old" in refused(
        target, contrast, excluded=excluded
    )
    assert checked(target, contrast | {"at": {}}, excluded=excluded).campaign.primary_contrast


def test_pairs_are_judged_against_their_own_baseline(target):
    pairs = {"order": "paired", "paired_factor": "engine", "baseline": "old"}

    found = checked(
        target, {"at": {"workers": 4}, "factor": "engine"}, **pairs
    ).campaign.primary_contrast
    assert (found["candidate"], found["baseline"]) == ("new", "old")
    assert "the paired factor, engine" in refused(
        target, {"factor": "workers", "candidate": 4, "baseline": 2}, **pairs
    )
    assert "judged against old" in refused(target, {"factor": "engine", "baseline": "new"}, **pairs)


def test_a_wrong_factor_is_said_first(target):
    with pytest.raises(Invalid) as caught:
        checked(target, {"factor": "nothing"}, factors={"nothing": [1, 2]})

    assert list(caught.value.errors) == ["factors.nothing"]


def test_a_draft_keeps_it_and_a_clone_takes_it(target):
    contrast = {"factor": "workers", "candidate": 8, "baseline": 4, "at": {"engine": "old"}}
    draft = drafts.create(checked(target, contrast), None)
    draft.refresh_from_db()

    data = storage.definition_of(draft)

    assert data["primary_contrast"] == contrast
    clone = drafts.create(check(data), None, clone_of=draft)
    assert clone.primary_contrast == contrast
    assert contrast_label(clone.primary_contrast) == "workers 8 vs. 4, at engine old"


def test_the_hash_of_a_campaign_without_one_knows_nothing_of_it(target):
    draft = drafts.create(checked(target, None), None)

    assert "primary_contrast" not in storage.definition_of(draft)
    assert draft.primary_contrast is None
