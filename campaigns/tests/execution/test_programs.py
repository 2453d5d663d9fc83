"""Programs from their definition to the runs of a campaign, with real commands here and by SSH."""

import json
import shutil
import sys
import threading
import time
from base64 import b64encode
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.test import Client

from campaigns.execution import dispatch, programs, try_program
from campaigns.execution.running import execute
from campaigns.findings import compute
from campaigns.kinds.program import stored
from campaigns.kinds.program.driver import NOT_READ_BACK
from campaigns.kinds.programs.commands import MARK
from campaigns.kinds.programs.run_apart import work_of
from campaigns.kit import encryption
from campaigns.kit.errors import NotPossible
from campaigns.models import Attempt, AuditEvent, Campaign, Program, SshLogin, Target, Team
from campaigns.models.teams import default_team
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import Invalid, check
from campaigns.results.outputs import content_of
from campaigns.reviews.bundles import write_bundle
from campaigns.tests.kinds.programs.test_service import place
from campaigns.tests.people import somebody
from campaigns.tests.targets import ssh_server
from campaigns.tests.toy import worker

__all__ = ["place", "worker"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.system]

SCRIPT = """
for n in 1 2 3; do echo "latency=$(($1 * n)).5 ms"; done
echo "a line for people"
echo "rate=$1 req/s"
echo "score=$1 points"
"""


@pytest.fixture
def target(db, settings, tmp_path):
    settings.ALLOWED_ADDRESSES = "127.0.0.0/8:1-65535"
    settings.WORK_DIRECTORY = tmp_path / "work"
    return Target.objects.create(
        name="server", family="http", base_url="http://127.0.0.1:9", address="127.0.0.1:9"
    )


@pytest.fixture
def operator(db):
    return somebody("operator", "operator")


@pytest.fixture
def admin(db):
    return User.objects.create_superuser("admin")


@pytest.fixture
def by_ssh(target, tmp_path):
    if not ssh_server.SSHD:
        pytest.skip("OpenSSH's sshd is not installed here (Debian: openssh-server)")
    with ssh_server.openssh(tmp_path) as machine:
        SshLogin.objects.create(
            target=target,
            host="127.0.0.1",
            port=machine.port,
            username=machine.username,
            key=encryption.encrypt(machine.key),
            host_key=machine.host_key,
        )
        yield machine


def definition(**changes):
    return {
        "name": "script",
        "arguments": ["sh", "-c", SCRIPT, "script", "{size}"],
        "parameters": [{"name": "size", "initial": 1, "minimum": 1, "maximum": 9}],
        "reader": "plain_values",
        "seconds": 20,
    } | changes


def published(user, values=None, target=None, **changes):
    """A program that was tried and published with the metrics that its trial found."""
    row = programs.save_draft(definition(**changes), values or {}, default_team_row(), user)
    programs.request_trial(row, {}, target, user)
    try_program.try_program(row.pk)
    row.refresh_from_db()
    assert row.trial
    assert row.trial["failure"] == "", row.trial
    found = [
        {"name": each.name, "unit": each.unit, "better": each.better, "primary": each.primary}
        for each in programs.suggested_metrics(row.trial)
    ]
    return programs.publish(row, user, found if changes.get("reader", "plain_values") else None)


def default_team_row():
    return Team.objects.get(pk=default_team())


def campaign_of(row, target, **changes):
    data = {
        "question": "How fast?",
        "kind": row.name,
        "target": target.pk,
        "order": "interleaved",
        "repetitions": 1,
        "max_consecutive_failures": 20,
        "seed": 7,
    }
    return lifecycle.launch(drafts.create(check(data | changes), None), None)


def go(most=20):
    for _ in range(most):
        dispatch.dispatch()
        attempt = Attempt.objects.filter(state=Attempt.State.QUEUED).first()
        if attempt is None:
            return
        execute(attempt.pk, "measure@here", "here")


def values_of(attempt):
    return {each.metric.name: each.value for each in attempt.measurements.all()}


def test_a_script_is_tried_published_and_measured_at_its_levels(target, worker, operator):
    row = published(operator)
    assert [each["count"] for each in row.trial["metrics"]] == [3, 1, 1]
    campaign = campaign_of(row, target, factors={"size": [1, 2]})
    go()
    assert campaign.kind == row.kind
    attempts = Attempt.objects.order_by("run__cell__position")
    assert {each.state for each in attempts} == {Attempt.State.ACCEPTED}
    first, second = map(values_of, attempts)
    assert first["latency"] == pytest.approx(0.0025)
    assert (second["latency"], second["rate"]) == (pytest.approx(0.0045), 2.0)
    assert second["command_duration"] > 0
    printed = attempts[0].outputs.get(name="stdout")
    assert b"a line for people" in content_of(printed)
    client = Client()
    client.force_login(somebody("reader", "viewer"))
    page = f"/campaigns/{campaign.pk}/runs/1/"
    answer = client.get(page)
    assert b"Output of the program" in answer.content
    assert b"points" in answer.content  # a unit that perfdash does not know
    compute.analyse(campaign)
    for shown in ("", "?metric=score"):
        assert client.get(f"/campaigns/{campaign.pk}/{shown}").status_code == 200
    answer = client.get(f"/api/v1{page}attempts/1/outputs/stdout")
    assert answer.content.startswith(b"latency=")
    assert answer["Content-Disposition"].startswith("attachment")


def test_a_change_is_a_new_version_and_campaigns_keep_theirs(target, worker, operator):
    first = published(operator)
    campaign = campaign_of(first, target, repetitions=2)
    dispatch.dispatch()
    execute(Attempt.objects.get().pk, "measure@here", "here")
    draft = programs.save_draft(
        definition(seconds=30, metrics=first.definition["metrics"]), {}, first.team, operator, first
    )
    second = programs.publish(draft, operator)
    go()
    campaign.refresh_from_db()
    first.refresh_from_db()
    asked = {"question": "?", "target": target.pk, "repetitions": 1}
    active = campaign_of(second, target)
    with pytest.raises(NotPossible, match="runs it: cancel that"):
        programs.retire(second, operator)
    lifecycle.cancel(active, "enough", None)
    dispatch.dispatch()
    assert (first.state, second.version, campaign.kind) == ("superseded", 2, first.kind)
    assert campaign.state == Campaign.State.FINISHED
    assert check(asked | {"kind": "script"}).campaign.kind == second.kind
    programs.retire(second, operator)
    with pytest.raises(Invalid, match="is retired"):
        check(asked | {"kind": second.kind})
    assert list(
        AuditEvent.objects.filter(action__startswith="program")
        .values_list("action", flat=True)
        .order_by("pk")
    ) == [
        *("program_saved", "program_tried", "program_published"),
        *("program_saved", "program_published", "program_retired"),
    ]


TELLS = """
cat "$1"; echo; base64 "$1"; echo "n=$(wc -c <"$1") B"
echo "in the environment: $(tr '\\0' '\\n' </proc/$$/environ | grep -c "$(cat "$1")")"
echo "in the arguments: $(tr '\\0' '\\n' </proc/$$/cmdline | grep -c "$(cat "$1")")"
"""


def test_secrets_reach_a_file_and_nothing_else(target, worker, operator, settings, tmp_path):
    row = published(
        operator,
        {"token": "correct-horse-battery"},
        arguments=["sh", "-c", TELLS, "sh", "{secret:token}"],
        secrets=["token"],
        parameters=[],
    )
    campaign_of(row, target)
    go()
    attempt = Attempt.objects.get()
    assert values_of(attempt)["n"] == len("correct-horse-battery")
    printed = content_of(attempt.outputs.get(name="stdout"))
    assert b"correct-horse" not in printed
    assert b64encode(b"correct-horse-battery")[:20] not in printed
    assert b"in the environment: 0\nin the arguments: 0\n" in printed
    assert not (
        Path(settings.WORK_DIRECTORY).exists() and list(Path(settings.WORK_DIRECTORY).iterdir())
    )
    compute.analyse(attempt.run.campaign)
    with (tmp_path / "bundle.zip").open("wb") as file:
        write_bundle(file, [attempt.run.campaign])
    with ZipFile(tmp_path / "bundle.zip") as bundle:
        files = {name: bundle.read(name) for name in bundle.namelist()}
    assert not [name for name, content in files.items() if b"correct-horse" in content]
    output = next(content for name, content in files.items() if name.endswith("/output.ndjson"))
    assert json.loads(output.splitlines()[0])["name"] == "stdout"
    program = next(content for name, content in files.items() if name.endswith("/program.ndjson"))
    assert "secrets" not in json.loads(program)
    assert json.loads(program)["definition"]["secrets"] == ["token"]
    row.refresh_from_db()
    assert "correct-horse" not in json.dumps([row.definition, row.secrets, row.trial])


SHOUTS = """
word=$(cat "$1")
cp "$(command -v sleep)" "$word"
"./$word" 60 >/dev/null 2>&1 &
until [ "$(readlink /proc/$!/exe)" = "$PWD/$word" ]; do :; done
echo "latency=1 ms"; echo "$word"; echo "no luck with $word" >&2
exit "$2"
"""


@pytest.mark.parametrize("status", [0, 3])
def test_a_trial_shows_no_secret_not_even_as_the_name_of_a_process(target, operator, status):
    wanted = definition(
        arguments=["sh", "-c", SHOUTS, "sh", "{secret:token}", "{size}"],
        parameters=[{"name": "size", "initial": status, "minimum": 0}],
        secrets=["token"],
    )
    row = programs.save_draft(
        wanted, {"token": "correct-horse-battery"}, default_team_row(), operator
    )
    programs.request_trial(row, {}, None, operator)

    try_program.try_program(row.pk)

    row.refresh_from_db()
    trial = row.trial
    assert trial
    assert (trial["exit_status"], trial["left"], len(trial["left_names"])) == (status, 1, 1)
    assert bool(trial["failure"]) is (status != 0)
    assert "latency=1 ms" in trial["outputs"][0]["text"]
    for word in ("correct-h", "horse-battery", b64encode(b"correct-horse-battery").decode()[:12]):
        assert word not in json.dumps(trial)


def test_the_service_for_programs_runs_those_of_operators(
    target, worker, operator, settings, place
):
    """`place`: its socket. It runs them in its own directory, as its own user."""
    settings.PROGRAM_SERVICE = place
    script = "wc -c <../secrets/token; echo latency=$(id -u) ms >f; (setsid sleep 60 &); sleep 0.1"
    wanted = definition(
        arguments=["sh", "-c", script, "sh"], parameters=[], files=["f"], output="f",
        version=["pwd"], secrets=["token"],
    )  # fmt: skip
    row = programs.save_draft(wanted, {"token": "s3cret-token"}, default_team_row(), operator)

    def tried():
        programs.request_trial(row, {}, None, operator)
        try_program.try_program(row.pk)
        row.refresh_from_db()
        return row.trial

    trial = tried()
    assert trial["failure"] == ""
    assert trial["version"].startswith(f"{work_of(place)}/run-")
    assert (trial["left"], trial["left_names"]) == (1, ["sleep"])
    assert trial["metrics"][0]["value"] == pytest.approx(4.321)
    assert trial["outputs"][0]["text"] == "12\n"
    settings.WORKER_PROGRAMS = "off"
    with pytest.raises(PermissionDenied, match="PERFDASH_WORKER_PROGRAMS to off"):
        tried()


@pytest.mark.parametrize(
    ("arguments", "more", "reason"),
    [
        (
            ["sh", "-c", "echo broken >&2; exit 4"],
            {},
            "ended with exit status 4. It printed: broken",
        ),
        (["sleep", "60"], {"seconds": 1}, "did not end within 1 s, and was killed"),
        (["sh", "-c", "echo nothing to read"], {}, "cannot be read as plain_values"),
        (["sh", "-c", "echo other=1 s"], {}, "has no “latency”, which is the primary metric"),
        (["sh", "-c", "echo latency=1 GB"], {}, "gives “latency” in B; the program declares s"),
        (["nonono"], {}, "cannot be started on this worker: No such file or directory"),
    ],
)
def test_failures_say_what_happened(target, worker, operator, arguments, more, reason):
    metrics = [{"name": "latency", "unit": "s", "primary": True}]
    row = programs.save_draft(
        definition(arguments=arguments, parameters=[], metrics=metrics, **more),
        {},
        default_team_row(),
        operator,
    )
    campaign_of(programs.publish(row, operator), target)
    go(1)
    attempt = Attempt.objects.order_by("pk")[0]
    assert attempt.state == Attempt.State.FAILED
    assert reason in attempt.reason


def test_a_cancelled_run_leaves_no_process(target, worker, operator, by_ssh, admin):
    for where, user in (("worker", operator), ("target", admin)):
        row = programs.save_draft(
            {
                "name": f"sleeper-{where}",
                "arguments": ["sh", "-c", "setsid sleep 307 & sleep 307"],
                "where": where,
            },
            {},
            default_team_row(),
            user,
        )
        campaign = campaign_of(programs.publish(row, user), target)
        dispatch.dispatch()
        attempt = Attempt.objects.get(state=Attempt.State.QUEUED)
        runs = threading.Thread(target=execute_apart, args=[attempt.pk])
        runs.start()
        until(lambda: len(sleepers()) >= 2)
        lifecycle.cancel(campaign, "enough", None)
        until(lambda: not sleepers())
        runs.join(20)
        attempt.refresh_from_db()
        assert attempt.state == Attempt.State.CANCELLED, (where, attempt.reason)


def execute_apart(attempt):
    try:
        execute(attempt, "measure@here", "here")
    finally:
        connection.close()


def sleepers():
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{MARK}=".encode() in (path / "environ").read_bytes():
                found.append((path / "cmdline").read_bytes())
    return [each for each in found if b"307" in each]


def until(done):
    for _ in range(400):
        if done():
            return
        time.sleep(0.05)
    pytest.fail("it did not come about")


def test_it_runs_on_the_target_by_ssh(target, worker, admin, by_ssh):
    row = published(
        admin,
        target=target,
        where="target",
        arguments=["sh", "-c", f"{SCRIPT} echo $1 >found; pwd >&2", "script", "{size}"],
        files=["found"],
        version=["sh", "-c", "echo version 1"],
    )
    campaign_of(row, target, factors={"size": [3]})
    go()
    attempt = Attempt.objects.get()
    assert attempt.state == Attempt.State.ACCEPTED, attempt.reason
    assert values_of(attempt)["rate"] == 3.0
    assert content_of(attempt.outputs.get(name="found")) == b"3\n"
    assert attempt.effective_settings.get(name="version").in_force == "version 1"
    assert attempt.effective_settings.get(name="size").in_force == NOT_READ_BACK
    assert attempt.environment.filter(name="kernel").exists()


TOOLS: dict[str, tuple[list[str], dict[str, Any], str]] = {
    "sysbench": (
        ["sysbench", "cpu", "--threads={n}", "--time=1", "run"],
        {"reader": "sysbench"},
        "event_rate",
    ),
    "hyperfine": (
        ["hyperfine", "--runs", "3", "-N", "--export-json", "{file:out.json}", "sleep 0.0{n}"],
        {"reader": "hyperfine", "files": ["out.json"], "output": "out.json"},
        "duration",
    ),
    "fio": (
        [
            *("fio", "--output-format=json", "--name=r", "--rw=read", "--size=4m"),
            *("--directory={directory}", "--iodepth={n}", "--unlink=1"),
        ],
        {"reader": "fio"},
        "read_iops",
    ),
    "pytest_benchmark": (
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header"),
            *("--benchmark-json={file:b.json}", "--benchmark-max-time=0.{n}", "benchmarked.py"),
        ],
        {"reader": "pytest_benchmark", "files": ["b.json"], "output": "b.json"},
        "duration",
    ),
}


HAMMER = """#!/bin/sh
printf 'database:\\n    Status:          ok\\n    Server Response: Duration: 4ms\\n'
printf 'candlepin:\\n    Status:          ok\\n    Server Response: Duration: 41ms\\n'
"""
PING = """"$1" ping | awk '/^[a-z_]+:$/ {sub(":", ""); name = $0} /Duration:/ {sub("ms", ""); print name "=" $NF " ms"}'"""


def test_what_hammer_prints_is_turned_into_lines(target, worker, operator, tmp_path):
    """As `hammer ping` prints it, by a script of that name: no Satellite is here."""
    hammer = tmp_path / "hammer"
    hammer.write_text(HAMMER)
    hammer.chmod(0o755)
    row = published(
        operator, name="hammer", arguments=["sh", "-c", PING, "sh", str(hammer)], parameters=[]
    )
    campaign_of(row, target)
    go()
    values = values_of(Attempt.objects.get())
    assert (values["database"], values["candlepin"]) == (pytest.approx(0.004), pytest.approx(0.041))


def test_dnf_is_timed(target, worker, operator):
    if not shutil.which("dnf"):
        pytest.skip("dnf is not installed here (Debian: dnf)")
    row = programs.save_draft(
        {
            "name": "dnf",
            "arguments": [
                "dnf",
                "-q",
                "--setopt=reposdir={directory}",
                "--setopt=logdir={directory}",
                "--installroot={directory}",
                "repolist",
            ],
            # As root it opens a log in /var/log, which a program may not write, after it has told its version.
            "version": ["sh", "-c", "dnf --version 2>/dev/null | sed 1q"],
        },
        {},
        default_team_row(),
        operator,
    )
    campaign_of(programs.publish(row, operator), target)
    go()
    attempt = Attempt.objects.get()
    assert attempt.state == Attempt.State.ACCEPTED, attempt.reason
    assert values_of(attempt)["command_duration"] > 0
    assert str(attempt.effective_settings.get(name="version").in_force)[0].isdigit()


@pytest.mark.parametrize("name", TOOLS)
def test_real_tools_are_read(target, worker, operator, name):
    """hyperfine, sysbench and fio of Debian, and pytest-benchmark, as their users call them."""
    arguments, more, primary = TOOLS[name]
    if name == "pytest_benchmark":
        pytest.importorskip(name)
        arguments = [*arguments[:-1], str(Path(__file__).with_name("benchmarked.py"))]
    elif not shutil.which(name):
        pytest.skip(f"{name} is not installed here (Debian: {name})")
    row = published(
        operator,
        name=f"real-{name.replace('_', '-')}",
        arguments=arguments,
        parameters=[{"name": "n", "initial": 1, "minimum": 1, "maximum": 4}],
        **more,
    )
    campaign = campaign_of(row, target)
    assert campaign.primary_metric == primary
    go()
    attempt = Attempt.objects.get()
    assert attempt.state == Attempt.State.ACCEPTED, attempt.reason
    assert values_of(attempt)[primary] > 0


def test_kinds_of_other_teams_are_not_offered(target, worker, operator):
    row = published(operator)
    assert row.kind in {each.kind for each in stored.in_use([row.team_id])}
    assert not stored.in_use([row.team_id + 1])
    assert Program.objects.count() == 1
