"""What the form of a campaign offers to begin with, and what the REST API tells of it."""

import pytest

from campaigns.kinds.api import described
from campaigns.kinds.registration.driver import driver
from campaigns.kinds.registration.presets import LEVELS, PRESETS
from campaigns.models import Campaign, Target
from campaigns.results.importing import simulated_katello
from campaigns.tests.browsing import Page, browser, person

__all__ = ["browser", "person"]

NEW = "/campaigns/new/"


@pytest.fixture(autouse=True)
def _sandbox(settings):
    settings.SANDBOX_URL = "http://127.0.0.1:8099"


@pytest.fixture
def katello(person, settings):
    """A target with the settings of the simulated Katello."""
    settings.ALLOWED_ADDRESSES = "127.0.0.1:*"
    assert simulated_katello.katello_target("http://127.0.0.1:8399", "", person)
    return Target.objects.get(family="katello")


def offered(page):
    return [each["value"] for each in page.named("act") if "preset:" in (each["value"] or "")]


@pytest.mark.django_db
def test_the_curve_fills_in_eight_levels_of_hosts_and_stores_nothing(browser):
    sent = {"kind": "registration", "p-hosts": "3", "p-organization": "mine"}

    answer = browser.post(NEW, sent | {"act": "preset:concurrency-curve"})

    page, rows = Page(answer), answer.context["form"].parameters.fitting
    (row,) = [row for row in rows if row.name == "hosts"]
    assert row.varied
    assert row.levels.value().split() == list(LEVELS)
    assert "checked" in page.named("vary-hosts")[0]
    assert page.named("p-organization")[0]["value"] == "ACME"
    assert not Campaign.objects.exists()


@pytest.mark.django_db
def test_a_preset_that_varies_what_the_target_does_not_have_is_not_offered(browser):
    page = Page(browser.get(NEW, {"kind": "registration"}))

    assert "preset:concurrency-curve" in offered(page)
    assert not [name for name in offered(page) if "puma" in name]


@pytest.mark.django_db
def test_a_target_with_settings_of_puma_is_offered_their_tables(browser, katello):
    sent = {"kind": "registration", "target": str(katello.pk)}
    assert "preset:puma-threads" in offered(Page(browser.get(NEW, sent)))

    answer = browser.post(NEW, sent | {"act": "preset:puma-threads"})

    rows = {row.name: row for row in answer.context["form"].parameters.fitting}
    assert rows["puma_threads"].varied
    assert rows["puma_threads"].levels.value().split() == ["4", "8", "16", "32"]
    assert rows["puma_workers"].single.value() == "4"
    assert not rows["puma_workers"].varied


@pytest.mark.django_db
def test_a_preset_of_capacity_asks_its_question_where_none_is_written(browser, katello):
    sent = {"kind": "registration", "target": str(katello.pk), "act": "preset:carries"}

    form = browser.post(NEW, sent).context["form"]
    rows = {row.name: row for row in form.parameters.fitting}
    assert rows["hosts"].levels.value().split() == ["65", "85", "110", "140", "180"]
    assert rows["puma_workers"].levels.value().split() == ["2", "4"]
    assert rows["puma_threads"].single.value() == "5"
    assert form.design["question"].value().startswith("How many hosts can register at once")
    assert form.design["order"].value() == "interleaved"

    own = browser.post(NEW, sent | {"question": "Mine?"}).context["form"]
    assert own.design["question"].value() == "Mine?"


def test_the_api_tells_levels_beside_values():
    told = {preset["name"]: preset for preset in described("registration", driver)["presets"]}

    assert told["concurrency-curve"]["factors"] == {"hosts": list(LEVELS)}
    assert told["few-hosts"]["factors"] == {}
    assert told["few-hosts"]["values"] == {}
    assert told["carries"]["values"]["criterion"]["failed_percent"] == 5
    assert set(told) == {preset.name for preset in PRESETS}


GUIDE = {
    "table-threads": ("puma_threads", ["4", "8", "16", "32"]),
    "table-workers-4": ("puma_workers", ["2", "4", "6", "8"]),
    "table-workers-8": ("puma_workers", ["2", "4", "8", "12", "16"]),
    "table-workers-32": ("puma_workers", ["4", "8", "16", "24", "32", "48"]),
}


@pytest.mark.parametrize("name", GUIDE)
def test_each_table_of_the_guide_is_a_preset(name):
    told = {preset["name"]: preset for preset in described("registration", driver)["presets"]}

    factor, levels = GUIDE[name]
    assert told[name]["factors"] == {factor: levels}
    assert {"cpus", "memory_gib", "hosts"} <= told[name]["parameters"].keys()


@pytest.mark.django_db
def test_a_preset_of_memory_is_judged_by_the_memory_of_puma(browser, katello):
    sent = {"kind": "registration", "target": str(katello.pk), "act": "preset:threads-min"}

    form = browser.post(NEW, sent).context["form"]

    rows = {row.name: row for row in form.parameters.fitting}
    assert form.design["primary_metric"].value() == "watched.memory_peak:puma"
    assert rows["puma_threads_min"].levels.value().split() == ["0", "16"]
    assert (rows["cpus"].single.value(), rows["memory_gib"].single.value()) == ("8", "40")


@pytest.mark.django_db
def test_a_preset_says_what_the_target_lacks_for_it(browser, katello):
    katello.setting_rows.filter(name="puma_threads_min").delete()
    katello.watches.filter(source="process_exporter").delete()

    answer = browser.get(NEW, {"kind": "registration", "target": str(katello.pk)})

    assert "preset:threads-min" not in offered(Page(answer))
    text = " ".join(answer.content.decode().split())
    assert (
        "needs the setting puma_threads_min and a watch that gives watched.memory_peak:puma."
        in text
    )


@pytest.mark.django_db
def test_a_target_without_the_watch_alone_is_not_offered_a_preset_of_memory(browser, katello):
    katello.watches.filter(source="process_exporter").update(is_on=False)

    answer = browser.get(NEW, {"kind": "registration", "target": str(katello.pk)})

    assert "preset:threads-min" not in offered(Page(answer))
    assert "preset:two-workers" in offered(Page(answer))
    text = " ".join(answer.content.decode().split())
    assert "needs a watch that gives watched.memory_peak:puma." in text
