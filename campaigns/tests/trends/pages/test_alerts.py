"""Pages and REST of alerts: lists, one alert, what people do with it, mutes."""

import pytest
from django.urls import reverse

from campaigns.accounts.access import make_token
from campaigns.models import Alert, Confirmation, Mute
from campaigns.tests.browsing import Page
from campaigns.tests.rest import ApiClient, own_rates
from campaigns.tests.trends.measuring import telling
from campaigns.tests.trends.test_alerts import again, line, suspected

__all__ = ["line", "own_rates", "telling"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def alert(line):
    suspected(line)
    again(Confirmation.objects.get(), new=10.8)
    return Alert.objects.get()


def test_the_list_and_the_page_say_what_moved(browser, alert):
    page = Page(browser.get(reverse("alert-list")))
    assert "% slower than 3.211.0" in page.text
    assert "To do (1)" in page.text
    page = Page(browser.get(reverse("alert", args=[alert.pk])))
    assert "6 pairs, each side installed anew." in page.text
    assert "side by side, 6 pairs" in page.text


@pytest.mark.parametrize("name", ["todo", "again", "better", "recovered", "all"])
def test_each_list_is_shown(browser, alert, name):
    assert browser.get(reverse("alert-list"), {"list": name}).status_code == 200


def test_a_list_that_there_is_not_is_not_found(browser):
    assert browser.get(reverse("alert-list"), {"list": "x"}).status_code == 404


def test_it_is_taken_with_a_click_and_a_word_without_reason_is_refused(browser, alert, person):
    browser.post(reverse("alert-word", args=[alert.pk, "take"]))
    alert.refresh_from_db()
    assert alert.owner == person
    answer = browser.post(reverse("alert-word", args=[alert.pk, "dismiss"]))
    assert answer.status_code == 422
    assert "Say why" in Page(answer).text
    assert browser.post(reverse("alert-word", args=[alert.pk, "nothing"])).status_code == 404


def test_a_line_is_muted_and_called_about_again(browser, alert, line):
    browser.post(reverse("line-mute", args=[line.pk]), {"days": "14", "reason": "Migration"})
    assert "the line “Engines, nightly”" in Page(browser.get(reverse("alert-list"))).text
    browser.post(reverse("mute-end", args=[Mute.objects.get().pk]))
    assert Mute.objects.get().ended_at


@pytest.mark.parametrize("days", ["", "0", "91", "many", "9" * 30])
def test_what_is_no_number_of_days_mutes_nothing(browser, line, days):
    browser.post(reverse("line-mute", args=[line.pk]), {"days": days, "reason": "x"})
    assert not Mute.objects.exists()


def test_by_rest_it_is_read_handled_and_muted(alert, line, person):
    api = ApiClient(make_token(person, "laptop")[1])
    (told,) = api.get("alerts", evidence="confirmed", line=line.pk)[1]["results"]
    assert told["text"][0].startswith("core 3.212.0 is 8.")
    assert told["trends"][0]["ci_pct"][0] > 0
    assert told["confirmations"][0]["outcome"] == "confirmed"
    code, told = api.post(f"alerts/{alert.pk}/dismiss", {"reason": "Noise."})
    assert (code, told["handling"]) == (200, "not_a_regression")
    assert api.post(f"alerts/{alert.pk}/dismiss", {"reason": "Noise."})[0] == 409
    code, mute = api.post("mutes", {"line": line.pk, "days": 3, "reason": "x"})
    assert (code, mute["what"]) == (201, "the line “Engines, nightly”")
    assert api.post(f"mutes/{mute['id']}/end", {})[0] == 200
    assert api.post("mutes", {"days": 3, "reason": "x"})[0] == 400
