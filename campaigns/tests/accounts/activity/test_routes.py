"""Every address that changes something leaves a row, or a reason why not."""

import re
from pathlib import Path

import pytest
from django.conf import settings as installation
from django.urls import URLPattern, get_resolver

from campaigns.kit.activity import Action
from campaigns.models import AuditEvent, Run
from campaigns.tests.accounts.activity.routes import DEEDS
from campaigns.tests.rest import api, draft, own_rates, owner, token
from campaigns.tests.targets.settings_server import over_http
from campaigns.tests.toy import definition, target, toy

__all__ = ["api", "draft", "own_rates", "owner", "target", "token", "toy"]
SOURCE = Path(installation.BASE_DIR, "campaigns")


def routes(patterns=None):
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(pattern, URLPattern):
            yield pattern
        else:
            yield from routes(pattern.url_patterns)


def allowed_of(callback):
    """The methods that a page's decorator lets in; None without one."""
    while callback is not None:
        for cell in getattr(callback, "__closure__", None) or ():
            held = cell.cell_contents
            if isinstance(held, list | tuple) and held and set(held) <= {"GET", "HEAD", "POST"}:
                return set(held)
        callback = getattr(callback, "__wrapped__", None)
    return None


def changing():
    for pattern in routes():
        view = getattr(pattern.callback, "cls", None)
        if view is not None:
            if any(hasattr(view, method) for method in ("post", "put", "patch", "delete")):
                yield pattern.name
        elif "POST" in (allowed_of(pattern.callback) or {"POST"}):
            yield pattern.name


def test_every_address_that_changes_something_is_in_the_table():
    found = set(changing())

    assert len(found) > 120
    assert found - DEEDS.keys() == set(), "say in routes.py what each of them is recorded as"
    assert DEEDS.keys() - found == set(), "these are gone"


def test_every_deed_of_the_table_is_recorded_somewhere():
    recorded = set()
    for file in SOURCE.rglob("*.py"):
        if "tests" not in file.parts:
            recorded |= set(re.findall(r"Action\.([A-Z_]+)", file.read_text()))

    wanted = {
        action.name for deeds in DEEDS.values() if not isinstance(deeds, str) for action in deeds
    }
    assert wanted - recorded == set()


def test_reasons_are_sentences():
    assert all(len(reason.split()) > 1 for reason in DEEDS.values() if isinstance(reason, str))


@pytest.fixture
def done(api, draft, target):
    """Do something, and give the actions that were recorded of it."""

    last = [AuditEvent.objects.latest("pk").pk]

    def doing(answer):
        status, _ = answer
        assert status < 300, answer
        rows = AuditEvent.objects.exclude(action=Action.TOKEN_USED).filter(pk__gt=last[0])
        found = list(rows.order_by("pk").values_list("pk", "action", "user__username", "means"))
        last[0] = max([last[0], *(key for key, *_ in found)])
        who = {(user, means) for _, _, user, means in found}
        assert who <= {("owner", "token “tests”"), (None, "system")}
        return [action for _, action, _, _ in found]

    return doing


def test_the_life_of_a_campaign_is_told_step_by_step(api, draft, target, done):
    path = f"campaigns/{draft}"
    twin = api.post("campaigns", definition(target=target.pk))
    assert done(twin) == ["campaign_created"]
    assert done(api.delete(f"campaigns/{twin[1]['id']}")) == ["campaign_deleted"]
    assert done(api.patch(path, {"name": "Other"})) == ["campaign_edited"]
    assert done(api.post(f"{path}/clone", {"name": "Twin"})) == ["campaign_cloned"]
    assert done(api.post(f"{path}/calibrate")) == ["campaign_calibrated"]
    assert done(api.post(f"{path}/launch")) == ["campaign_launched"]
    assert done(api.post(f"{path}/pause")) == ["campaign_paused"]
    assert done(api.post(f"{path}/resume")) == ["campaign_resumed"]
    assert done(api.post(f"{path}/extend", {"repetitions": 1})) == ["campaign_extended"]
    amended = {"reason": "it pays", "smallest_effect_percent": 3}
    assert done(api.post(f"{path}/amend", amended)) == ["campaign_amended"]
    run = Run.objects.filter(campaign=draft, state="planned").latest("position").position
    assert done(api.post(f"{path}/runs/{run}/cancel", {"reason": "no"})) == ["run_cancelled"]
    excluded = api.post(f"{path}/exclusions", {"run": run, "reason": "noise"})
    assert done(excluded) == ["run_excluded"]
    key = excluded[1]["id"]
    assert done(api.post(f"{path}/exclusions/{key}/withdraw")) == ["run_included"]
    assert done(api.post(f"{path}/cancel", {"reason": "enough"}))[0] == "campaign_cancelled"


def test_what_is_refused_or_only_looked_at_leaves_no_row(api, draft, target, done):
    assert done(api.get("campaigns")) == []
    before = AuditEvent.objects.count()

    assert api.post(f"campaigns/{draft}/pause")[0] == 409
    assert api.patch(f"campaigns/{draft}", {"order": "sideways"})[0] == 400
    assert api.post("campaigns/preview", definition(target=target.pk))[0] == 200
    assert api.delete("campaigns/999999")[0] == 404

    assert AuditEvent.objects.count() == before


def test_targets_and_their_parts_are_told_and_no_secret_is(api, owner, target, done, settings):
    settings.ALLOWED_ADDRESSES += ", 127.0.0.1:2222"
    owner.is_superuser = True
    owner.save()
    path = f"targets/{target.pk}"
    secret = "a very secret word"  # noqa: S105
    changed = api.patch(path, {"username": "admin", "password": secret})
    assert done(changed) == ["target_edited"]
    row = AuditEvent.objects.get(action="target_edited")
    assert row.details["credentials_changed"] == ["password"]
    assert row.details["changes"]["username"] == {"before": "tester", "after": "admin"}
    setting = over_http("puma_workers")
    assert done(api.post(f"{path}/settings", setting)) == ["setting_created"]
    assert done(api.patch(f"{path}/settings/puma_workers", {"label": "W"})) == ["setting_edited"]
    assert done(api.delete(f"{path}/settings/puma_workers")) == ["setting_deleted"]
    step = {"name": "clean", "purpose": "reset", "action": {"way": "manual", "words": "Clean it."}}
    made = api.post(f"{path}/steps", step)
    assert done(made) == ["step_created"]
    login = {"host": "127.0.0.1", "port": 2222, "username": "root", "password": secret}
    assert done(api.put(f"{path}/ssh", login)) == ["ssh_saved"]
    assert done(api.delete(f"{path}/ssh")) == ["ssh_deleted"]
    assert done(api.post(f"{path}/retire")) == ["target_retired"]
    assert secret not in str(list(AuditEvent.objects.values()))
