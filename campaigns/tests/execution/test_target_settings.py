"""Settings of a target as levels: set, read back, set back; by HTTP on a real server, by SSH, by hand."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now

from campaigns.execution import dispatch, manual_steps, restore_settings
from campaigns.execution.dispatch.due import claim_restorations
from campaigns.execution.manual_steps import open_requests
from campaigns.execution.running import execute
from campaigns.execution.waiting import waiting_for
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.models import (
    Attempt,
    Campaign,
    EffectiveSetting,
    FoundSetting,
    ManualStep,
    Run,
    TargetLease,
)
from campaigns.planning import lifecycle
from campaigns.targets import settings as target_settings
from campaigns.targets import ssh_logins
from campaigns.targets.actions import fingerprint_of
from campaigns.tests.targets import ssh_server
from campaigns.tests.targets.settings_server import manually, over_http, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(db):
    return User.objects.create_superuser("admin")


@pytest.fixture
def server(target, settings):
    with serving() as found:
        settings.ALLOWED_ADDRESSES = f"127.0.0.0/8:{found.port}"
        target.base_url, target.address = found.url, f"127.0.0.1:{found.port}"
        target.save()
        yield found


@pytest.fixture
def workers(server, target, admin):
    return target_settings.save_setting(over_http("puma_workers"), target, admin)


def step(target, admin, **data):
    usual = {"name": "a step", "action": {"way": "http", "url": "/reset"}}
    return target_settings.save_step(usual | data, target, admin)


def go(most=50):
    """Dispatch and execute until nothing is queued."""
    for _ in range(most):
        dispatch.dispatch()
        attempt = Attempt.objects.filter(state=Attempt.State.QUEUED).first()
        if attempt is None:
            return
        execute(attempt.pk, "measure@here", "here")
    raise AssertionError("it did not come to an end")


def restore(target):
    go()
    restore_settings.restore(target.pk)


def states(campaign):
    return list(campaign.runs.values_list("state", flat=True))


def test_levels_are_set_and_read_back_and_set_back_at_the_end(server, workers, launched, target):
    campaign = launched(factors={"puma_workers": [4, 8], "level": [1, 2]}, repetitions=1)
    restore(target)
    assert states(campaign) == ["done"] * 4
    assert len(server.changes()) == 3, "each level once, since it is hard to change; and back"
    assert server.values["puma_workers"] == 2
    found = EffectiveSetting.objects.filter(name="puma_workers")[0]
    assert found.ok
    assert found.asked == found.in_force == 4 or found.asked == found.in_force == 8
    assert FoundSetting.objects.get().restored_at


def test_settings_may_be_left_as_they_are(server, workers, launched, target):
    launched(factors={"puma_workers": [4], "level": [1]}, repetitions=1, settings_afterwards="keep")
    restore(target)
    assert server.values["puma_workers"] == 4


def test_a_fixed_setting_is_read_and_not_set_where_it_is_in_force(server, workers, launched):
    campaign = launched(parameters={"puma_workers": 2}, repetitions=1)
    go()
    assert states(campaign) == ["done"] * 2
    assert not server.changes()


def test_a_cancelled_campaign_sets_back_too(server, workers, launched, target):
    campaign = launched(factors={"puma_workers": [4, 8]}, repetitions=2)
    dispatch.dispatch()
    execute(Attempt.objects.get().pk, "measure@here", "here")
    assert server.values["puma_workers"] != 2
    lifecycle.cancel(campaign, "enough")
    restore(target)
    assert server.values["puma_workers"] == 2


def test_nothing_begins_on_a_server_that_has_to_be_set_back(server, workers, launched, target):
    launched(factors={"puma_workers": [4]}, repetitions=1)
    go()
    second = launched(factors={"level": [1]}, repetitions=1)
    go()
    assert states(second) == ["planned"]
    restore_settings.restore(target.pk)
    go()
    assert states(second) == ["done"]


def test_a_try_out_sets_back_what_it_changed(server, workers, draft, target):
    campaign = draft(factors={"puma_workers": [4, 8]})
    lifecycle.try_one(campaign, None)
    restore(target)
    assert server.values["puma_workers"] == 2
    assert server.changes() == [("/settings/puma_workers", 4), ("/settings/puma_workers", 2)]


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (lambda s: s.deaf.add("puma_workers"), "asked 4, in force 2"),
        (lambda s: s.html.add("puma_workers"), "cannot be read back: GET"),
        (
            lambda s: s.values.update(puma_workers="many"),
            "It was not set, since it could not be restored",
        ),
        (lambda s: setattr(s, "vanishes", True), "cannot be read back"),
    ],
)
def test_what_is_not_in_force_makes_the_run_void(server, workers, launched, trouble, words):
    trouble(server)
    campaign = launched(factors={"puma_workers": [4]}, repetitions=1)
    go()
    run = campaign.runs.get()
    assert run.state == Run.State.VOID
    assert words in Attempt.objects.earliest("pk").reason


def test_what_cannot_be_read_at_first_is_not_set(server, workers, launched):
    server.html.add("puma_workers")
    campaign = launched(factors={"puma_workers": [4]}, repetitions=1)

    go()

    assert not server.changes()
    assert not FoundSetting.objects.exists()
    assert (
        Attempt.objects.filter(run__campaign=campaign)
        .earliest("pk")
        .reason.endswith(
            "It was not set, since it could not be restored afterwards. See to it that it can be read, or launch a clone of the campaign that "
            "leaves settings as they are afterwards."
        )
    )


def test_what_cannot_be_read_at_first_is_mended_where_it_is_to_stay(server, workers, launched):
    server.values["puma_workers"] = "many"
    campaign = launched(factors={"puma_workers": [4]}, repetitions=1, settings_afterwards="keep")

    go()

    assert states(campaign) == ["done"]
    assert server.values["puma_workers"] == 4


def test_what_is_found_before_is_mended_and_put_back(server, workers, launched, target):
    campaign = launched(factors={"puma_workers": [4, 8]}, repetitions=1)
    dispatch.dispatch()
    execute(Attempt.objects.get().pk, "measure@here", "here")
    server.values["puma_workers"] = "many"

    restore(target)

    assert states(campaign) == ["done", "done"]
    assert server.values["puma_workers"] == 2


def test_all_settings_are_read_before_one_restarts_the_server(
    server, workers, launched, target, admin
):
    target_settings.save_setting(over_http("puma_threads"), target, admin)
    server.blinds = {"puma_workers": "puma_threads"}

    campaign = launched(
        factors={"puma_workers": [4]}, parameters={"puma_threads": 16}, repetitions=1
    )
    restore(target)

    assert states(campaign) == ["done"]
    assert (server.values["puma_workers"], server.values["puma_threads"]) == (2, 5)


def test_reset_commands_leave_proofs_and_are_awaited(server, target, admin, launched):
    step(target, admin, name="drop caches", action={"way": "http", "url": "/caches"})
    step(
        target,
        admin,
        name="answers",
        purpose="ready",
        action={"way": "http", "url": "/ready", "at": "status", "expect": "ok", "seconds": 20},
    )
    server.not_ready = 1
    campaign = launched(factors={"level": [1]}, repetitions=1)
    go()
    proofs = Attempt.objects.get(run__campaign=campaign).proofs.filter(step="reset")
    assert [(proof.name, proof.ok) for proof in proofs] == [
        ("drop caches", True),
        ("answers", True),
        ("files", True),
    ]
    assert proofs[0].measured.startswith("status 200 after")


def test_a_build_is_installed_before_the_reset(server, target, admin, launched):
    build = over_http("build", type="text", minimum=None, maximum=None, is_build=True)
    target_settings.save_setting(build, target, admin)
    server.values["build"] = "1.0"
    step(target, admin)

    campaign = launched(factors={"build": ["2.0"]}, repetitions=1)
    go()

    assert states(campaign) == ["done"]
    changes = [path for method, path, _ in server.asked if method != "GET"]
    assert changes[:2] == ["/settings/build", "/reset"]


def test_a_reset_command_that_fails_makes_the_run_void(server, target, admin, launched):
    step(target, admin, name="drop caches", action={"way": "http", "url": "/fails"})
    campaign = launched(factors={"level": [1]}, repetitions=1)
    go()
    run = campaign.runs.get()
    assert run.state == Run.State.VOID
    assert "Not clean before the run: drop caches" in run.reason
    assert "500" in run.reason


@pytest.mark.system
def test_commands_over_ssh_set_and_read_and_reset(target, admin, settings, launched, tmp_path):
    place = tmp_path / "workers"
    place.write_text("2\n")
    with ssh_server.within() as machine:
        settings.ALLOWED_ADDRESSES = f"127.0.0.0/8:9,{machine.port}"
        login = ssh_logins.save_ssh(
            {
                "host": "127.0.0.1",
                "port": machine.port,
                "username": machine.username,
                "key": machine.key,
            },
            target,
            admin,
        )
        write = ["sh", "-c", f'echo "$1" > {place}', "sh", "{value}"]
        target_settings.save_setting(
            over_http(
                "workers",
                apply={"way": "command", "arguments": write},
                read_back={"way": "command", "arguments": ["cat", str(place)]},
            ),
            target,
            admin,
        )
        step(
            target,
            admin,
            name="restart",
            action={"way": "command", "arguments": ["echo", "restarted"]},
        )
        campaign = launched(factors={"workers": [4]}, repetitions=1)
        go()
        assert "is not known: SHA256:" in campaign.runs.get().reason
        login.refresh_from_db()
        ssh_logins.accept_host_key(login, fingerprint_of(login.offered_key), admin)
        lifecycle.run_again(campaign.runs.get(), None)
        go()
        assert states(campaign) == ["done"]
        proof = Attempt.objects.latest("pk").proofs.get(name="restart")
        assert "restarted" in proof.measured
        assert place.read_text() == "4\n"


class TestByHand:
    @pytest.fixture
    def campaign(self, target, admin, launched):
        target_settings.save_setting(manually("workers"), target, admin)
        return launched(factors={"workers": [4, 8], "level": [1, 2]}, repetitions=1)

    def confirm(self, admin):
        manual_steps.confirm(open_requests().get(), admin)

    def test_nothing_is_held_while_a_manual_step_is_awaited(self, campaign, admin):
        go()
        go()
        asked = ManualStep.objects.get()
        assert asked.words.startswith("Set workers to ")
        assert "night" in asked.words
        assert states(campaign) == ["planned"] * 4
        assert not Attempt.objects.exists()
        assert not TargetLease.objects.exclude(attempt=None).exists()

    def test_it_goes_on_once_somebody_says_so_and_asks_for_each_level_once(self, campaign, admin):
        go()
        self.confirm(admin)
        go()
        assert states(campaign) == ["done", "done", "planned", "planned"]
        self.confirm(admin)
        go()
        assert states(campaign) == ["done"] * 4
        assert (
            campaign.log.filter(text__startswith="manual step done, confirmed by admin").count()
            == 2
        )

    def test_others_on_the_server_wait_too_and_a_pause_lets_them_go(
        self, campaign, launched, admin
    ):
        go()
        other = launched(factors={"level": [5]}, repetitions=1)
        go()
        assert states(other) == ["planned"]
        lifecycle.pause(campaign)
        assert not open_requests().exists()
        go()
        assert states(other) == ["done"]
        lifecycle.resume(campaign)
        go()
        assert open_requests().count() == 1

    def test_nothing_is_confirmed_twice_or_after_the_end(self, campaign, admin):
        go()
        request = open_requests().get()
        manual_steps.confirm(request, admin)
        with pytest.raises(NotPossible, match="done already, confirmed by admin"):
            manual_steps.confirm(request, admin)
        go()
        request = open_requests().get()
        lifecycle.cancel(campaign, "enough")
        with pytest.raises(NotPossible, match="Nothing waits for it"):
            manual_steps.confirm(request, admin)

    def test_a_manual_step_that_set_something_else_is_seen_and_asked_again(
        self, server, target, admin, launched
    ):
        read = {"way": "http", "url": "/settings/puma_workers", "at": "value"}
        target_settings.save_setting(manually("workers", read_back=read), target, admin)
        campaign = launched(factors={"workers": [4]}, repetitions=1)
        go()
        self.confirm(admin)
        go()
        assert "asked 4, in force 2" in Attempt.objects.get().reason
        server.values["puma_workers"] = 4
        self.confirm(admin)
        go()
        assert states(campaign) == ["done"]

    def test_a_manual_reset_is_asked_for_before_each_run(self, target, admin, launched):
        step(target, admin, name="empty it", action={"way": "manual", "words": "Empty the disk."})
        campaign = launched(factors={"level": [1, 2]}, repetitions=1)
        for _ in range(2):
            go()
            self.confirm(admin)
        go()
        assert states(campaign) == ["done"] * 2
        proof = Attempt.objects.earliest("pk").proofs.get(name="empty it")
        assert proof.measured == "by hand, says admin"

    def test_the_end_asks_to_set_it_back_and_holds_nobody(self, campaign, admin, target, launched):
        target.setting_rows.update(manual_value=2)
        for _ in range(2):
            go()
            self.confirm(admin)
        restore(target)
        assert "Set workers back to 2" in open_requests().get().words
        other = launched(factors={"level": [5]}, repetitions=1)
        go()
        assert states(other) == ["done"]

    @pytest.mark.parametrize("before", [None, 4, 8])
    def test_what_it_was_is_what_it_was_before_the_campaign(self, campaign, admin, target, before):
        target.setting_rows.update(manual_value=before)
        while campaign.runs.filter(state="planned").exists():
            go()
            for request in open_requests().exclude(run=None):
                manual_steps.confirm(request, admin)
        go()
        restore(target)
        found = target.setting_rows.get().manual_value
        asked = [request.value for request in open_requests()]
        assert asked == ([] if before in (None, found) else [before])


def test_who_waits_until_settings_are_set_back_is_told_that(workers, launched, target):
    launched(factors={"puma_workers": [4]}, repetitions=1)
    go()
    other = launched(factors={"level": [5]}, repetitions=1)
    assert "to be restored" in waiting_for(other).why
    restore(target)
    assert "to be restored" not in waiting_for(other).why


def test_what_could_not_be_set_back_is_tried_again_after_a_while(server, workers, launched, target):
    launched(factors={"puma_workers": [4]}, repetitions=1)
    go()
    server.deaf.add("puma_workers")
    restore(target)
    assert FoundSetting.objects.get().tries == 1
    assert claim_restorations() == []
    FoundSetting.objects.update(claimed_until=Now() - timedelta(seconds=1))
    assert claim_restorations() == [target.pk]


def test_a_campaign_that_lost_its_setting_says_so(server, workers, launched):
    campaign = launched(factors={"puma_workers": [4]}, repetitions=1)
    workers.delete()
    go()
    assert "has no setting “puma_workers” any more" in campaign.runs.get().reason
    assert Campaign.objects.get().state == Campaign.State.FINISHED


def test_what_cannot_be_set_back_is_told_after_three_tries_and_holds_nobody(
    server, workers, launched, target
):
    campaign = launched(factors={"puma_workers": [4]}, repetitions=1)
    go()
    server.deaf.add("puma_workers")
    for _ in range(3):
        dispatch.dispatch()
        restore_settings.restore(target.pk)
    assert "Set it back manually" in campaign.log.last().text
    other = launched(factors={"level": [1]}, repetitions=1)
    go()
    assert states(other) == ["done"]


def test_what_cannot_be_read_any_more_is_set_back_all_the_same(server, workers, launched, target):
    launched(factors={"puma_workers": [4]}, repetitions=1)
    go()
    del server.values["puma_workers"]

    restore_settings.restore(target.pk)

    assert server.values["puma_workers"] == 2
    assert FoundSetting.objects.get().restored_at


def test_a_restoration_that_died_is_claimed_again_when_its_time_is_over(
    server, workers, launched, target
):
    launched(factors={"puma_workers": [4]}, repetitions=1)
    go()
    row = FoundSetting.objects.get()
    assert row.claimed_until is not None
    restore_settings.restore(target.pk)
    FoundSetting.objects.update(restored_at=None, claimed_until=None)
    server.values["puma_workers"] = 8
    dispatch.dispatch()
    restore_settings.restore(target.pk)
    assert server.values["puma_workers"] == 2


# Named configurations


NAMED = {
    "2 x 16": {"puma_workers": 2, "puma_threads": 16},
    "4 x 8": {"puma_workers": 4, "puma_threads": 8},
}


@pytest.fixture
def threads(server, target, admin):
    return target_settings.save_setting(over_http("puma_threads"), target, admin)


def test_a_configuration_is_set_and_read_back_and_set_back_setting_by_setting(
    server, workers, threads, launched, target
):
    campaign = launched(factors={"configuration": NAMED}, repetitions=1)
    restore(target)

    assert states(campaign) == ["done"] * 2
    for run in campaign.runs.all():
        chosen = NAMED[run.cell.levels_by_factor["configuration"]]
        rows = EffectiveSetting.objects.filter(attempt__run=run, name__in=chosen)
        assert {row.name: row.in_force for row in rows} == chosen
        assert all(row.ok for row in rows)
    assert server.values == {"puma_workers": 2, "puma_threads": 5}
    assert FoundSetting.objects.filter(restored_at=None).count() == 0


def test_a_run_whose_configuration_is_not_whole_is_void_by_the_name_of_the_setting(
    server, workers, threads, launched
):
    server.deaf.add("puma_threads")
    campaign = launched(factors={"configuration": NAMED}, repetitions=1)
    go()

    assert set(states(campaign)) == {Run.State.VOID}
    assert "puma_threads" in Attempt.objects.earliest("pk").reason


def test_a_person_sets_the_settings_of_a_configuration_by_hand(
    server, workers, target, admin, launched
):
    target_settings.save_setting(manually("puma_threads"), target, admin)
    launched(factors={"configuration": NAMED}, repetitions=1)
    go()

    ((name, value),) = open_requests().values_list("setting__name", "value")
    assert name == "puma_threads"
    assert value in (8, 16)


def test_a_setting_of_a_configuration_stays_as_long_as_a_campaign_needs_it(
    server, workers, threads, launched, target, admin
):
    launched(factors={"configuration": NAMED}, repetitions=1)

    with pytest.raises(Invalid, match="needs it as it is"):
        target_settings.delete_setting(threads, admin)
