"""Recipes on the page of a target: listed, filled in, adapted, imported; refused when the value cannot be read back."""

import html
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from campaigns.models import Setting, SshLogin, TargetStep
from campaigns.tests.targets.settings_server import serving

pytestmark = pytest.mark.django_db

OWN = """
title: Workers of Puma
question: How many workers register hosts soonest?
source: https://example.com/guide
costs: A restart
setting:
  name: puma_workers
  minimum: 1
  maximum: 64
  apply: {way: http, method: PUT, url: /settings/puma_workers, body: {value: "{value}"}}
  read_back: {way: http, url: /settings/puma_workers, at: value}
readiness:
  - name: it answers
    action: {way: http, url: /ready, at: status, expect: ok}
"""


@pytest.fixture
def server(target, settings):
    with serving() as found:
        settings.ALLOWED_ADDRESSES = f"127.0.0.0/8:{found.port}"
        target.base_url, target.address = found.url, f"127.0.0.1:{found.port}"
        target.save()
        yield found


@pytest.fixture
def recipes(target):
    return reverse("recipe-list", args=[target.pk])


def filled(page):
    """The values of a form as a browser would send them."""
    names = re.findall(r'<input[^>]*\bname="([^"]+)"[^>]*>', page)
    sent = {}
    for name in names:
        tag = next(re.finditer(rf'<input[^>]*\bname="{name}"[^>]*>', page))[0]
        value = re.search(r'\bvalue="([^"]*)"', tag)
        if 'type="checkbox"' in tag:
            if " checked" in tag:
                sent[name] = "on"
        else:
            sent[name] = html.unescape(value[1]) if value else ""
    for name, text in re.findall(
        r'<textarea[^>]*\bname="([^"]+)"[^>]*>(.*?)</textarea>', page, re.DOTALL
    ):
        sent[name] = html.unescape(text).removeprefix("\n")
    for name, options in re.findall(
        r'<select[^>]*\bname="([^"]+)"[^>]*>(.*?)</select>', page, re.DOTALL
    ):
        chosen = re.search(r'value="([^"]*)"\s+selected', options)
        sent[name] = chosen[1] if chosen else ""
    sent.pop("csrfmiddlewaretoken", None)
    return sent


def test_the_page_of_a_target_leads_to_the_recipes_that_fit_it(browser, target, recipes):
    assert recipes in browser.get(reverse("target", args=[target.pk])).content.decode()
    page = browser.get(recipes).content.decode()
    assert "LimitNOFILE of Apache" in page
    assert "work_mem" not in page, "of a database, or of a server on its machine"
    assert "Workers of Puma" not in page, "of a Foreman alone"
    target.family = "katello"
    target.save()
    page = browser.get(recipes).content.decode()
    assert "Workers of Puma" in page
    assert "?kind=registration&amp;preset=puma-workers&amp;target=" in page
    assert "?kind=sql" not in page, "no target of this family is measured by SQL"
    target.family = "postgresql"
    target.save()
    assert "?kind=sql&amp;preset=throttling&amp;target=" in browser.get(recipes).content.decode()


def test_a_shipped_recipe_is_filled_in_with_what_it_says(browser, target, recipes):
    page = browser.get(f"{recipes}apache-limitnofile/").content.decode()
    assert "Do more open files of Apache carry more clients at once?" in page
    assert "A restart of httpd" in page
    sent = filled(page)
    assert (sent["name"], sent["apply_way"]) == ("httpd_open_files", "command")
    lines = sent["apply_arguments"].splitlines()
    assert lines[3:7] == ["sh", "{value}", "/etc/systemd/system/httpd.service.d/limits.conf", "LimitNOFILE"]  # fmt: skip
    assert browser.get(f"{recipes}no-such/").status_code == 404


def test_a_recipe_of_ones_own_is_previewed_adapted_and_imported(browser, target, recipes, server):
    response = browser.post(recipes, {"yaml": OWN})
    page = response.content.decode()
    assert response.status_code == 200
    assert not Setting.objects.exists(), "shown, and not saved"
    assert "Readiness: it answers" in page
    sent = filled(page) | {"maximum": "32"}

    done = browser.post(f"{recipes}import/", sent)

    assert done.status_code == 302, done.content.decode()
    row = Setting.objects.get()
    assert (row.name, row.maximum, row.hard_to_change) == ("puma_workers", 32, True)
    step = TargetStep.objects.get()
    assert (step.name, step.purpose, step.action["expect"]) == ("it answers", "ready", "ok")
    assert not server.changes(), "it was read, and not set"


def test_a_file_is_as_good(browser, recipes, server):
    file = SimpleUploadedFile("workers.yaml", OWN.encode())
    assert "Readiness: it answers" in browser.post(recipes, {"file": file}).content.decode()
    wrong = SimpleUploadedFile("workers.yaml", b"\xff\xfe")
    page = browser.post(recipes, {"file": wrong})
    assert page.status_code == 422
    assert "no text in UTF-8" in page.content.decode()


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (
            lambda server: server.html.add("puma_workers"),
            "The setting puma_workers cannot be read back: GET",
        ),
        (lambda server: server.values.pop("puma_workers"), "404"),
        (lambda server: server.values.update(puma_workers="many"), "It reads back"),
    ],
    ids=["a page", "nothing", "a text"],
)
def test_what_cannot_be_read_back_is_not_imported(browser, target, recipes, server, trouble, words):
    trouble(server)
    sent = filled(browser.post(recipes, {"yaml": OWN}).content.decode())

    response = browser.post(f"{recipes}import/", sent)

    page = html.unescape(response.content.decode())
    assert response.status_code == 422
    assert words in page
    assert "Nothing was imported." in page
    assert filled(page)["recipe"].strip() == OWN.strip(), "nothing that was sent is lost"
    assert not Setting.objects.exists()
    assert not TargetStep.objects.exists()


def test_what_is_wrong_with_a_recipe_stands_beside_it(browser, recipes):
    page = browser.post(recipes, {"yaml": OWN.replace("question:", "quest:")})
    assert page.status_code == 422
    text = html.unescape(page.content.decode())
    assert "question: A recipe says its question." in text
    assert "quest: There is no field" in text


@pytest.mark.parametrize(
    "wrong",
    [
        'apply: {way: command, arguments: [1, "{value}"]}',
        "apply: {way: sql, parameter: work_mem, arguments: 5}",
        "apply: {way: command, arguments: null}",
        'apply: {way: http, url: /x, body: {value: "{value}", a: 2020-01-01}}',
        "choices: 5",
        "choices: [on, off]",
    ],
)
def test_a_recipe_with_what_no_form_can_show_is_refused(browser, recipes, wrong):
    lines = [each for each in OWN.splitlines() if wrong[:5] not in each]
    lines.insert(lines.index("  minimum: 1"), f"  {wrong}")
    assert browser.post(recipes, {"yaml": "\n".join(lines)}).status_code == 422


def test_a_restart_that_is_empty_is_none(browser, recipes):
    actions = (
        "apply: {way: sql, parameter: work_mem, arguments: null}",
        "read_back: {way: sql, parameter: work_mem}",
    )
    head = OWN.partition("  apply")[0]
    text = head + "\n".join(f"  {each}" for each in actions)
    assert browser.post(recipes, {"yaml": text}).status_code == 200


def test_a_command_takes_an_ssh_login_and_an_administrator(browser, target, recipes, settings):
    sent = filled(browser.get(f"{recipes}apache-limitnofile/").content.decode())
    page = browser.post(f"{recipes}import/", sent)
    assert page.status_code == 422
    assert "Say first how commands reach the target" in page.content.decode()
    settings.OWNER_CONFIRMS = False
    SshLogin.objects.create(target=target, host="127.0.0.1", username="root", key="x")
    page = browser.post(f"{recipes}import/", sent)
    assert page.status_code == 422
    assert "only an administrator" in page.content.decode()
    assert not Setting.objects.exists()


def test_a_recipe_of_another_family_is_refused(browser, target, recipes, server):
    text = OWN.replace("costs:", "families: [katello]\ncosts:")
    sent = filled(browser.post(recipes, {"yaml": text}).content.decode())
    page = browser.post(f"{recipes}import/", sent)
    assert "It is for targets of the family katello" in html.unescape(page.content.decode())


def test_the_form_of_a_campaign_begins_with_a_preset(browser, target):
    form = reverse("campaign-new")
    page = browser.get(f"{form}?kind=sql&preset=try-it").content.decode()
    assert re.search(r'name="p-clients"[^>]*value="4"', page) or 'value="4"' in page
    assert browser.get(f"{form}?kind=sql&preset=no-such").status_code == 200


def test_a_preset_for_which_the_target_lacks_a_setting_is_not_filled_in(browser, target):
    target.family = "katello"
    target.save()
    address = f"{reverse('campaign-new')}?kind=registration&target={target.pk}&preset=proxy-timeout"
    page = html.unescape(browser.get(address).content.decode())
    assert "400 hosts” is not filled in: it needs the settings cpus, memory_gib, " in page
    assert filled(page)["question"] == ""
