"""Pages of settings, steps, SSH logins and manual steps."""

import re

import pytest
from django.urls import reverse

from campaigns.models import ManualStep, Setting, SshLogin, TargetStep
from campaigns.tests.targets.settings_server import manually, over_http

pytestmark = pytest.mark.django_db

ENTERED = {
    "name": "puma_workers",
    "type": "integer",
    "minimum": "1",
    "maximum": "64",
    "hard_to_change": "on",
    "apply_way": "http",
    "apply_method": "PUT",
    "apply_url": "/settings/puma_workers",
    "apply_body": '{"value": "{value}"}',
    "read_back_way": "http",
    "read_back_method": "GET",
    "read_back_url": "/settings/puma_workers",
    "read_back_at": "value",
}


def page_of(target):
    return reverse("target", args=[target.pk])


def test_a_setting_is_defined_shown_changed_and_deleted(browser, target):
    new = reverse("setting-new", args=[target.pk])
    assert browser.get(new).status_code == 200
    assert browser.post(new, ENTERED).status_code == 302
    row = Setting.objects.get()
    assert row.apply["body"] == {"value": "{value}"}
    assert row.hard_to_change
    assert "puma_workers" in browser.get(page_of(target)).content.decode()
    edit = reverse("setting-edit", args=[target.pk, "puma_workers"])
    assert "/settings/puma_workers" in browser.get(edit).content.decode()
    browser.post(edit, ENTERED | {"maximum": "8"})
    row.refresh_from_db()
    assert row.maximum == 8
    browser.post(reverse("setting-delete", args=[target.pk, "puma_workers"]))
    assert not Setting.objects.exists()


def test_what_is_wrong_stands_beside_its_field_and_nothing_is_lost(browser, target):
    new = reverse("setting-new", args=[target.pk])
    response = browser.post(new, ENTERED | {"apply_body": "{value", "label": "Puma <b>"})
    page = response.content.decode()
    assert response.status_code == 422
    assert "This is no JSON" in page
    assert "Puma &lt;b&gt;" in page
    response = browser.post(new, ENTERED | {"apply_url": "elsewhere"})
    assert "Give a path that begins with /" in response.content.decode()


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ("NaN", "does not have"),
        ("1e999", "does not have"),
        ('"\\u0000"', "U+0000"),
        ('{"\\ud800": 1}', "surrogate"),
        ("[" * 20 + "]" * 20, "deeper than 16"),
        ("[" * 9000 + "]" * 9000, "This is no JSON"),
        ("9" * 5000, "This is no JSON"),
    ],
)
def test_a_body_that_cannot_be_stored_is_refused(browser, target, other, words):
    body = f'{{"value": "{{value}}", "other": {other}}}'
    new = reverse("setting-new", args=[target.pk])
    response = browser.post(new, ENTERED | {"apply_body": body})
    assert response.status_code == 422
    assert words in response.content.decode()
    assert not Setting.objects.exists()


def test_a_step_is_defined_and_deleted(browser, target):
    new = reverse("step-new", args=[target.pk])
    sent = {
        "name": "drop caches",
        "purpose": "reset",
        "position": "1",
        "action_way": "http",
        "action_method": "POST",
        "action_url": "/caches",
    }
    assert browser.post(new, sent).status_code == 302
    row = TargetStep.objects.get()
    assert "drop caches" in browser.get(page_of(target)).content.decode()
    browser.post(reverse("step-delete", args=[target.pk, row.pk]))
    assert not TargetStep.objects.exists()


def test_only_administrators_reach_the_machine(browser, target, settings):
    settings.OWNER_CONFIRMS = False
    response = browser.post(
        reverse("ssh", args=[target.pk]),
        {"host": "127.0.0.1", "username": "root", "password": "long enough"},
    )
    assert response.status_code == 422
    assert "only an administrator" in response.content.decode()
    assert not SshLogin.objects.exists()


def test_who_is_asked_sees_it_on_the_first_page_and_says_that_it_is_done(browser, target):
    row = Setting.objects.create(
        target=target,
        **{name: manually("workers_of_puma")[name] for name in ("name", "apply", "read_back")},
    )
    manual = ManualStep.objects.create(
        target=target, setting=row, value=4, words="Set workers back to 4."
    )
    assert "Set workers back to 4." in browser.get("/").content.decode()
    done = reverse("manual-step-done", args=[manual.pk])
    assert browser.post(done).status_code == 302
    assert (
        "Set workers back to 4."
        not in browser.get("/?again").content.decode().partition("needs a manual step")[2]
    )
    row.refresh_from_db()
    assert row.manual_value == 4
    assert browser.post(done, follow=True).status_code == 200


def test_the_campaign_form_offers_settings_of_the_chosen_target(browser, target):
    fields = ("name", "apply", "read_back", "minimum", "maximum", "hard_to_change")
    Setting.objects.create(
        target=target, **{name: over_http("puma_workers")[name] for name in fields}
    )
    page = browser.get(f"{reverse('campaign-new')}?kind=toy&target={target.pk}").content.decode()
    assert 'name="vary-puma_workers"' in page
    assert re.search(r'name="hard-puma_workers"[^>]*\schecked', page)
    assert "Settings of the target (1)" in page
