"""What fits the family of a target is checked with the target, in the browser and over REST."""

import pytest

from campaigns.kinds.registry import all_kinds
from campaigns.kit.errors import Invalid
from campaigns.models import Target
from campaigns.planning.checking import check
from campaigns.tests.browsing import Page
from campaigns.tests.browsing import browser as browser
from campaigns.tests.browsing import person as person
from campaigns.tests.rest import ApiClient
from campaigns.tests.rest import api as api
from campaigns.tests.rest import owner as owner
from campaigns.tests.rest import token as token

pytestmark = pytest.mark.django_db
FEED = "http://127.0.0.1:8099/repo/files=3/PULP_MANIFEST"
FAMILIES = all_kinds()["sync"].families
FITS = {
    "pulp": {"feed": FEED},
    "katello": {"repository_ids": "3, 5", "repeat": "unchanged"},
}
MISFIT = {"pulp": "repository_ids", "katello": "feed"}


def target_of(family: str) -> Target:
    return Target.objects.create(
        name=family, family=family, base_url="http://127.0.0.1:9", address="127.0.0.1:9"
    )


def sync(family: str, **changes: object) -> dict[str, object]:
    return {
        "kind": "sync",
        "question": "How long does a sync take?",
        "target": target_of(family).pk,
        "parameters": FITS[family],
        "factors": {"optimize": ["on", "off"]},
        "order": "interleaved",
        "repetitions": 3,
    } | changes


@pytest.mark.parametrize("family", FAMILIES)
def test_what_fits_the_family_is_taken(family, settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.1:8099"
    found = check(sync(family))

    assert found.campaign.parameters["repository_ids"] == FITS[family].get("repository_ids", "")


@pytest.mark.parametrize("family", FAMILIES)
def test_what_another_family_has_is_refused_at_its_field(family):
    other = next(known for known in FITS if known != family)
    with pytest.raises(Invalid) as caught:
        check(sync(family, parameters=FITS[other]))

    name = MISFIT[family]
    message = f"Only a {other} target has it: leave it empty, or choose another target."
    assert caught.value.errors[f"parameters.{name}"] == [message]


def test_a_misfit_that_varies_is_told_at_the_factor():
    with pytest.raises(Invalid) as caught:
        check(sync("pulp", factors={"proxy": [1, 2]}))

    assert "do not vary it" in caught.value.errors["factors.proxy"][0]


def test_a_field_that_is_wrong_already_is_told_of_once():
    with pytest.raises(Invalid) as caught:
        check(sync("pulp", parameters={"feed": "ftp://feed/"}))

    assert len(caught.value.errors["parameters.feed"]) == 1


def test_rest_tells_of_a_misfit_by_its_field(api: ApiClient):
    status, problem = api.post("campaigns", sync("pulp", parameters=FITS["katello"]))

    assert status == 400
    assert "Only a katello target has it" in str(problem)
    assert "parameters.repository_ids" in str(problem)


def test_the_form_shows_a_misfit_beside_its_field_and_marks_what_one_family_has(browser):
    sent = {"kind": "sync", "target": str(target_of("pulp").pk), "p-repository_ids": "3"}

    page = Page(browser.post("/campaigns/new/", sent | {"act": "preview"}))

    assert "Only a katello target has it: leave it empty, or choose another target." in page.text
    assert "repository_ids katello only" in page.text
    assert "feed pulp only" in page.text
    assert "optimize pulp only" not in page.text


@pytest.mark.parametrize(
    ("family", "sent", "is_open"),
    [
        ("pulp", {}, False),
        ("katello", {}, False),
        ("katello", {"p-policy": "on_demand"}, True),
        ("katello", {"vary-policy": "on"}, True),
    ],
)
def test_what_the_chosen_target_does_not_know_is_put_aside(browser, family, sent, is_open):
    chosen = {"kind": "sync", "act": "preview", "target": str(target_of(family).pk)}

    folds = browser.post("/campaigns/new/", chosen | sent).context["form"].parameters.folds

    (aside,) = [each for each in folds if each.title == "Parameters of other families of targets"]
    names = {row.name for row in aside.rows}
    assert aside.is_open == is_open
    for name, alone in (("feed", "pulp"), ("policy", "pulp"), ("repository_ids", "katello")):
        assert (name in names) == (alone != family)
    assert "optimize" not in names


@pytest.mark.parametrize(("family", "offered"), [("pulp", True), ("katello", False)])
def test_feeds_to_begin_with_are_offered_where_they_fit(browser, settings, family, offered):
    settings.SANDBOX_URL = "http://127.0.0.1:8099"
    chosen = {"kind": "sync", "act": "preview", "target": str(target_of(family).pk)}

    page = Page(browser.post("/campaigns/new/", chosen))

    assert ("Start from:" in page.text) == offered


def test_all_is_there_as_long_as_no_target_is_chosen(browser):
    page = browser.post("/campaigns/new/", {"kind": "sync", "act": "preview"}).content.decode()

    assert "Parameters of other families" not in page
    assert 'id="row-feed"' in page
    assert 'id="row-proxy"' in page
