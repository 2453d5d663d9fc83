"""A build that each whole plot installs anew: by real commands on a real SSH server, through a worker that is killed."""

import os
import signal

import pytest
from django.contrib.auth.models import User

from campaigns.execution import dispatch, restore_settings, set_levels, steps
from campaigns.execution.running import execute
from campaigns.kit.errors import Invalid
from campaigns.models import Attempt, EffectiveSetting, FoundSetting
from campaigns.planning import lifecycle
from campaigns.planning.checking import check
from campaigns.planning.preview import preview
from campaigns.planning.storage import definition_of
from campaigns.targets import settings as target_settings
from campaigns.targets import ssh_logins
from campaigns.targets.actions import fingerprint_of
from campaigns.tests.execution import own_process
from campaigns.tests.targets import ssh_server

INSTALL = """
if [ -e {place}/worker ] && [ -e {place}/kill ]; then
  echo broken > {place}/version; p=$(cat {place}/worker); rm {place}/kill; kill -9 $p; exit 1
fi
[ ! -e {place}/refuse ] || {{ rm {place}/refuse; exit 1; }}
echo "$1" > {place}/version; echo "$1" >> {place}/installed
"""


@pytest.fixture
def admin(db):
    return User.objects.create_superuser("admin")


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    if ssh_server.SSHD:
        with ssh_server.openssh(tmp_path_factory.mktemp("sshd")) as found:
            yield found
        return
    with ssh_server.within() as found:
        yield found


@pytest.fixture
def place(tmp_path, machine, target, admin, settings):
    """Where the build of the target stands that a command installs, and a book of all installations."""
    settings.ALLOWED_ADDRESSES = f"127.0.0.0/8:9,{machine.port}"
    (tmp_path / "version").write_text("1.0\n")
    login = {"host": "127.0.0.1", "port": machine.port, "username": machine.username}
    row = ssh_logins.save_ssh(login | {"key": machine.key}, target, admin)
    row.offered_key = machine.host_key
    ssh_logins.accept_host_key(row, fingerprint_of(row.offered_key), admin)
    write = ["sh", "-c", INSTALL.format(place=tmp_path), "sh", "{value}"]
    target_settings.save_setting(
        {
            "name": "build",
            "type": "text",
            "is_build": True,
            "apply": {"way": "command", "arguments": write},
            "read_back": {"way": "command", "arguments": ["cat", f"{tmp_path}/version"]},
        },
        target,
        admin,
    )
    return tmp_path


def installed(place):
    book = place / "installed"
    return book.read_text().split() if book.exists() else []


def go(most=60):
    for _ in range(most):
        dispatch.dispatch()
        attempt = Attempt.objects.filter(state=Attempt.State.QUEUED).first()
        if attempt is None:
            return
        execute(attempt.pk, "measure@here", "here")
    raise AssertionError("it did not come to an end")


TWO = {"build": ["1.0", "2.0"], "level": [1, 2]}


@pytest.mark.django_db
class TestInstalling:
    pytestmark = pytest.mark.system

    def test_each_whole_plot_installs_its_build_once(self, place, launched, target):
        campaign = launched(factors=TWO, repetitions=3, anew=True)
        go()
        assert set(campaign.runs.values_list("state", flat=True)) == {"done"}
        blocks = [installed(place)[at : at + 2] for at in (0, 2, 4)]
        assert [sorted(each) for each in blocks] == [["1.0", "2.0"]] * 3, "where in force, too"
        assert len(installed(place)) == 6
        seen = EffectiveSetting.objects.filter(name="build").values_list("asked", "in_force")
        assert {asked == in_force for asked, in_force in seen} == {True}
        restore_settings.restore(target.pk)
        assert (place / "version").read_text() == "1.0\n"

    def test_without_it_neighbours_share_an_installation(self, place, launched):
        launched(factors=TWO, repetitions=3)
        go()
        assert len(installed(place)) < 6

    def test_what_could_not_be_installed_is_tried_again(self, place, launched):
        (place / "refuse").touch()
        campaign = launched(factors={"build": ["1.0"]}, repetitions=1, anew=True)
        go()
        assert campaign.runs.get().state == "done"
        assert [each.state for each in Attempt.objects.order_by("pk")] == ["void", "accepted"]
        assert installed(place) == ["1.0"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
class TestKilled:
    pytestmark = pytest.mark.system

    def killed(self, place, monkeypatch):
        """Execute one attempt in a process of its own, which is killed in the middle of an installation."""
        begin = set_levels.put_in_force

        def put_in_force(*arguments):
            (place / "worker").write_text(str(os.getpid()))
            return begin(*arguments)

        monkeypatch.setattr(steps, "put_in_force", put_in_force)
        (place / "kill").touch()
        dispatch.dispatch()
        attempt = Attempt.objects.get(state=Attempt.State.QUEUED).pk
        ended = own_process.ended_by(own_process.begin(attempt))
        own_process.forget_lease()
        monkeypatch.setattr(steps, "put_in_force", begin)
        return ended

    def test_what_a_killed_worker_left_is_installed_again_and_put_back(
        self, place, launched, target, monkeypatch
    ):
        campaign = launched(factors={"build": ["1.0", "2.0"]}, repetitions=1, anew=True)
        assert self.killed(place, monkeypatch) == signal.SIGKILL
        assert (place / "version").read_text() == "broken\n"
        assert FoundSetting.objects.get().value == "1.0", "though the first plot may be that"
        go()
        assert set(campaign.runs.values_list("state", flat=True)) == {"done"}
        restore_settings.restore(target.pk)
        assert FoundSetting.objects.get().restored_at
        assert (place / "version").read_text() == "1.0\n"

    def test_a_cancelled_campaign_puts_back_what_a_killed_worker_left(
        self, place, launched, target, monkeypatch
    ):
        campaign = launched(factors={"build": ["1.0", "2.0"]}, repetitions=1, anew=True)
        assert self.killed(place, monkeypatch) == signal.SIGKILL
        lifecycle.cancel(campaign, "enough")
        go()
        restore_settings.restore(target.pk)
        assert (place / "version").read_text() == "1.0\n"


@pytest.mark.django_db
class TestPlanning:
    pytestmark = pytest.mark.system

    def test_the_plan_says_how_often_and_counts_the_time(self, place, draft):
        campaign = draft(factors=TWO, repetitions=3, anew=True)
        planned = preview(check(definition_of(campaign)))
        assert ("info", "Build is installed 6 times: anew in each whole plot.") in planned.remarks

    def test_earlier_installations_tell_how_long_it_takes(self, place, launched, draft):
        earlier = launched(factors=TWO, repetitions=1)
        go()
        for number, phase in enumerate(
            Attempt.objects.filter(run__campaign=earlier).order_by("pk")
        ):
            phase.phases.filter(name="reset").update(seconds=31 if number % 2 == 0 else 1)
        plain = preview(check(definition_of(draft(factors=TWO, repetitions=3)))).seconds
        anew = preview(check(definition_of(draft(factors=TWO, repetitions=3, anew=True)))).seconds
        assert anew - plain == pytest.approx(6 * 30)

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            (
                {"factors": {"level": [1, 2]}},
                "No build varies, so nothing is installed anew. Vary a setting that is a build, or leave this off.",
            ),
            (
                {"factors": TWO, "order": "random"},
                "In the order “random” there are no whole plots. Choose “interleaved” or “paired”, or leave this off.",
            ),
        ],
        ids=["no build", "random"],
    )
    def test_it_is_refused_where_it_does_nothing(self, place, draft, changes, words):
        with pytest.raises(Invalid) as refused:
            draft(**changes, anew=True)
        assert refused.value.errors["anew"] == [words]
