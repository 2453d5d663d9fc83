"""The feeds of the sandbox that the form offers are those that it has."""

import pytest

from campaigns.kinds.sync.driver import driver
from campaigns.kinds.sync.form import SyncForm
from campaigns.kinds.sync.presets import SHAPE
from campaigns.models import Campaign, Target
from campaigns.tests.browsing import Page, browser, person
from sandbox.grammar import pairs, read, split
from sandbox.settings import PRESETS, Feed

__all__ = ["browser", "person"]

URL = "http://127.0.0.1:8099"
NEW = "/campaigns/new/"


def read_feed(url):
    """The content that a feed of the sandbox holds, with its kind and the document that it names."""
    kind, *segments = url.removeprefix(f"{URL}/").split("/")
    feed = Feed(f"/{kind}")
    settings, rest = split(segments)
    assert rest == ([feed.entry] if feed is Feed.FILE else [""])
    assert SyncForm.base_fields["feed"].clean(url)
    return feed, read(pairs(settings), feed)


def test_each_shape_of_the_sandbox_is_a_preset_that_says_what_it_holds():
    held = {}
    for preset in (each for each in driver.presets(URL) if each.group == SHAPE):
        feed, settings = read_feed(preset.parameters["feed"])
        content = settings.content
        held[preset.name] = (content.files, content.size(0))
        assert f": {content.files} of " in preset.label
        assert preset.parameters["content"] == ("file" if feed is Feed.FILE else "rpm")

    assert held == {
        f"{name}-{what}": measure
        for name, measure in PRESETS.items()
        for what in ("files", "packages")
    }


def test_the_published_study_has_its_levels_and_a_feed_with_latency():
    named = {preset.name: preset for preset in driver.presets(URL)}

    for name in ("download-concurrency", "policies"):
        preset = named[name]
        assert preset.factors["download_concurrency"] == ("20", "15", "10", "7", "5", "3")
        assert preset.values["repetitions"] == 3
        feed, settings = read_feed(preset.parameters["feed"])
        assert (feed, settings.latency) == (Feed.RPM, 0.05)
    assert named["download-concurrency"].parameters["policy"] == "immediate"
    assert named["policies"].factors["policy"] == ("immediate", "on_demand")


def test_sources_of_other_latencies_hold_the_same():
    (preset,) = [each for each in driver.presets(URL) if each.name == "latencies"]

    found = [read_feed(url)[1] for url in preset.factors["feed"]]

    assert [each.latency for each in found] == [0.005, 0.05, 0.2]
    assert len({each.content for each in found}) == 1


def test_without_a_sandbox_the_study_is_there_and_its_feed_is_to_be_entered():
    named = {preset.name: preset for preset in driver.presets("")}

    assert set(named) == {"download-concurrency", "policies", "proxies"}
    assert not any({"feed", "repository_ids"} & each.names for each in named.values())
    assert named["proxies"].parameters["proxy"] == "", "only a Katello has one"


@pytest.mark.django_db
def test_a_preset_fills_the_form_without_script_and_stores_nothing(browser, settings):
    settings.SANDBOX_URL = URL
    sent = {"kind": "sync", "question": "How long?", "p-policy": "on_demand", "vary-feed": "on"}
    sent |= {"levels-feed": "http://127.0.0.1/"}

    for preset in (each for each in driver.presets(URL) if each.group == SHAPE):
        answer = browser.post(NEW, sent | {"act": f"preset:{preset.name}"})

        page = Page(answer)
        assert answer.status_code == 200
        assert page.named("p-feed")[0]["value"] == preset.parameters["feed"]
        assert page.named("p-content")[0]["value"] == preset.parameters["content"]
        assert "checked" not in page.named("vary-feed")[0]
        assert page.named("question")
        assert "How long?" in answer.content.decode()
    assert not Campaign.objects.exists()


@pytest.fixture
def pulp(settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.1:*"
    return Target.objects.create(name="pulp", family="pulp", base_url="http://127.0.0.1:8199")


def offered(page):
    """The names of the presets that a page has a button for."""
    acts = [each["value"] or "" for each in page.named("act")]
    return [each.removeprefix("preset:") for each in acts if each.startswith("preset:")]


@pytest.mark.django_db
def test_a_feed_of_the_sandbox_is_offered_where_there_is_one(browser, settings, pulp):
    chosen = {"kind": "sync", "target": str(pulp.pk)}
    settings.SANDBOX_URL = ""
    assert offered(Page(browser.get(NEW, chosen))) == ["download-concurrency", "policies"]

    settings.SANDBOX_URL = URL
    assert offered(Page(browser.get(NEW, chosen))) == [
        *("download-concurrency", "policies", "latencies"),
        *("many-small-files", "few-large-files", "many-small-packages", "few-large-packages"),
    ]


@pytest.mark.django_db
def test_presets_of_another_family_are_neither_offered_nor_missed(browser, settings, pulp):
    answer = browser.get(NEW, {"kind": "sync", "target": str(pulp.pk)})

    assert "smart proxy of 4, 8 and 16 CPUs" not in answer.content.decode()


@pytest.mark.django_db
def test_presets_stand_below_the_question_that_they_answer(browser, settings, pulp):
    settings.SANDBOX_URL = URL

    page = browser.get(NEW, {"kind": "sync", "target": str(pulp.pk)}).context["form"]

    assert [group for group, _ in page.presets] == [
        "Download concurrency of a Pulp",
        "Where the content comes from",
        "One feed of the sandbox",
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["", "nonsense"])
def test_an_unknown_preset_changes_nothing(browser, settings, name):
    settings.SANDBOX_URL = URL

    answer = browser.post(NEW, {"kind": "sync", "p-feed": "mine", "act": f"preset:{name}"})

    assert Page(answer).named("p-feed")[0]["value"] == "mine"
