"""Pages and REST resources of credentials: no secret comes back, whatever is asked for."""

import pytest
from django.urls import reverse

from campaigns.kit import encryption
from campaigns.models import Credential
from campaigns.tests.targets.credentials.planted import PASSWORD, PLACE, secrets_of

pytestmark = pytest.mark.django_db


def text_of(answer):
    return " ".join(answer.content.decode().split())


def assert_no_secret(text, entered):
    assert not [secret for secret in secrets_of(entered) if secret in text]


def test_a_credential_is_made_shown_changed_and_deleted(browser, entered):
    new = reverse("credential-new")
    assert "What is sent, and where" in text_of(browser.get(new))

    made = browser.post(new, entered, follow=True)

    row = Credential.objects.get()
    assert made.redirect_chain[-1][0] == reverse("credential", args=[row.pk])
    for page in (made, browser.get(reverse("credential-list"))):
        assert PLACE in text_of(page)
        assert_no_secret(text_of(page), entered)
    assert row.fingerprint in text_of(made)
    edit = reverse("credential-edit", args=[row.pk])
    page = text_of(browser.get(edit))
    assert "Forget the stored certificate and key" in page
    assert_no_secret(page, entered)
    browser.post(edit, {"places": PLACE, "username": "somebody", "password": "new-sentinel-81"})
    row.refresh_from_db()
    assert (row.version, encryption.decrypt(row.password)) == (2, "new-sentinel-81")

    gone = browser.post(reverse("credential-delete", args=[row.pk]), follow=True)

    assert "cdn is deleted." in text_of(gone)
    assert not Credential.objects.exists()


def test_a_refused_form_sends_no_secret_back_and_asks_for_it_again(browser, entered):
    answer = browser.post(reverse("credential-new"), {**entered, "places": ""})

    assert answer.status_code == 422
    page = text_of(answer)
    assert "Type the password again: a refused form does not keep it." in page
    assert_no_secret(page, entered)


def test_somebody_elses_change_is_not_overwritten(browser, entered):
    browser.post(reverse("credential-new"), entered)
    row = Credential.objects.get()
    edit = reverse("credential-edit", args=[row.pk])
    seen = browser.get(edit).context["seen"]
    Credential.objects.update(username="meanwhile")

    answer = browser.post(edit, {"places": PLACE, "username": "mine", "seen": seen})

    assert answer.status_code == 409
    assert "meanwhile" in text_of(answer)


def as_json(entered, **changes):
    return {**entered, "places": [entered["places"]], **changes}


def test_the_same_by_rest(api, entered):
    status, made = api.post("credentials", as_json(entered))

    assert status == 201
    assert (made["places"], made["has"], made["version"]) == (
        [PLACE], ["password", "certificate", "key"], 1,
    )  # fmt: skip
    path = f"credentials/{made['id']}"
    for answer in (made, api.get("credentials")[1], api.get(path)[1]):
        assert_no_secret(str(answer), entered)
    status, refused = api.patch(path, {"places": [PLACE, "https://elsewhere.example"]})
    assert status == 400
    assert {each["field"] for each in refused["errors"]} == {"key", "password"}
    assert_no_secret(str(refused), entered)
    status, changed = api.patch(path, {"username": "somebody-else"})
    assert (status, changed["version"], changed["username"]) == (200, 2, "somebody-else")
    assert encryption.decrypt(Credential.objects.get().password) == PASSWORD
    assert api.delete(path)[0] == 204
    assert api.get(path)[0] == 404


def test_no_error_of_rest_quotes_a_secret(api, entered):
    broken = {"key": entered["key"][:-40], "token": "sentinel token 9"}

    status, body = api.post("credentials", as_json(entered, **broken))

    assert status == 400
    assert_no_secret(str(body), {**entered, **broken})


def test_the_form_of_a_campaign_offers_the_teams_credentials_and_chooses_none(
    browser, entered, target
):
    browser.post(reverse("credential-new"), entered)

    page = browser.get(reverse("campaign-new"), {"kind": "http", "target": target.pk})

    text = text_of(page)
    assert '<datalist id="offers-credential"> <option value="cdn"></option> </datalist>' in text
    assert 'name="p-credential" value="cdn"' not in text
