"""The feeds of the sandbox that the form offers are those that it has."""

import pytest

from campaigns.kinds.sync.driver import driver
from campaigns.kinds.sync.form import SyncForm
from campaigns.models import Campaign
from campaigns.tests.browsing import Page, browser, person
from sandbox.grammar import pairs, read, split
from sandbox.settings import PRESETS, Feed

__all__ = ["browser", "person"]

URL = "http://127.0.0.1:8099"
NEW = "/campaigns/new/"


def test_each_preset_is_one_of_the_sandbox_and_says_what_it_holds():
    held = {}
    for preset in driver.presets(URL):
        kind, *segments = preset.parameters["feed"].removeprefix(f"{URL}/").split("/")
        feed = Feed(f"/{kind}")
        settings, rest = split(segments)
        content = read(pairs(settings), feed).content
        held[preset.name] = (content.files, content.size(0))
        assert f": {content.files} of " in preset.label
        assert preset.parameters["content"] == ("file" if feed is Feed.FILE else "rpm")
        assert rest == ([feed.entry] if feed is Feed.FILE else [""])
        assert SyncForm.base_fields["feed"].clean(preset.parameters["feed"])

    assert held == {
        f"{name}-{what}": measure
        for name, measure in PRESETS.items()
        for what in ("files", "packages")
    }


@pytest.mark.django_db
def test_a_preset_fills_the_form_without_script_and_stores_nothing(browser, settings):
    settings.SANDBOX_URL = URL
    sent = {"kind": "sync", "question": "How long?", "p-policy": "on_demand", "vary-feed": "on"}
    sent |= {"levels-feed": "http://127.0.0.1/"}

    for preset in driver.presets(URL):
        answer = browser.post(NEW, sent | {"act": f"preset:{preset.name}"})

        page = Page(answer)
        assert answer.status_code == 200
        assert page.named("p-feed")[0]["value"] == preset.parameters["feed"]
        assert page.named("p-content")[0]["value"] == preset.parameters["content"]
        assert "checked" not in page.named("vary-feed")[0]
        assert page.named("question")
        assert "How long?" in answer.content.decode()
    assert not Campaign.objects.exists()


@pytest.mark.django_db
def test_the_form_offers_presets_where_there_is_a_sandbox_only(browser, settings):
    def offered():
        page = Page(browser.get(NEW, {"kind": "sync"}))
        return [each["value"] for each in page.named("act") if "preset:" in (each["value"] or "")]

    settings.SANDBOX_URL = ""
    assert offered() == []
    settings.SANDBOX_URL = URL
    assert offered() == [f"preset:{preset.name}" for preset in driver.presets(URL)]
    assert len(offered()) == 4


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["", "nonsense"])
def test_an_unknown_preset_changes_nothing(browser, settings, name):
    settings.SANDBOX_URL = URL

    answer = browser.post(NEW, {"kind": "sync", "p-feed": "mine", "act": f"preset:{name}"})

    assert Page(answer).named("p-feed")[0]["value"] == "mine"
