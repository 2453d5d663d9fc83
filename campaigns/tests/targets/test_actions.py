import gc
import shlex
import sys
import threading
import time
from dataclasses import replace

import pytest

from campaigns.kit import redaction
from campaigns.kit.http.connection import Answer
from campaigns.kit.http.credentials import Login, Tls
from campaigns.kit.network import parse_rules
from campaigns.kit.ssh.commands import look
from campaigns.targets.actions import (
    Action,
    ActionFailed,
    BadAction,
    Endpoint,
    HostKeyRefused,
    Role,
    Server,
    SshAccess,
    await_ready,
    fingerprint_of,
    parse,
    perform,
    read_value,
)
from campaigns.targets.actions.http import read_json
from campaigns.targets.actions.performing import shortened
from campaigns.tests.targets import ssh_server

pytestmark = pytest.mark.system

NASTY = ["it's", 'a "b"', "$(touch /tmp/never)", "`id`", "a\nb", "; rm -rf x", "--help", "*", ""]


@pytest.fixture(scope="module", params=["within", "openssh"])
def machine(request, tmp_path_factory):
    if request.param == "within":
        with ssh_server.within() as found:
            yield found
        return
    if not ssh_server.SSHD:
        pytest.skip("OpenSSH's sshd is not installed here (Debian: openssh-server)")
    with ssh_server.openssh(tmp_path_factory.mktemp("sshd")) as found:
        yield found


def access_of(machine, **other):
    known = {
        "host": "127.0.0.1",
        "port": machine.port,
        "username": machine.username,
        "key": machine.key,
        "host_key": machine.host_key,
    }
    return SshAccess(**(known | other))


def server_of(access):
    rules = parse_rules(f"127.0.0.1:{access.port}, 127.0.0.2:1-65535")
    return Server(Endpoint("http://127.0.0.1:9", rules, Login(), Tls()), access)


def command(*arguments, seconds=20.0, **other):
    return Action("command", seconds=seconds, arguments=arguments, **other)


def go_on():
    pass


@pytest.mark.parametrize("value", NASTY)
def test_a_value_is_one_argument_whatever_is_in_it(machine, value):
    program = (sys.executable, "-c", "import sys; print(ascii(sys.argv[1:]))")
    done = perform(command(*program, "{value}"), server_of(access_of(machine)), go_on, value=value)
    assert done.output == ascii([value])
    assert done.status == "exit code 0"


def test_what_is_told_of_an_answer_is_not_cut_within_a_secret():
    secret = "correct-horse-battery"  # noqa: S105
    redaction.remember(secret)
    for number in range(len(secret)):
        long = f"{secret}{'.' * (600 - number)}"
        assert not set("hobay") & set(shortened(long))
        headers = {"Content-Type": "text/html" if number % 2 else "text/plain"}
        body = f"{'.' * (300 - number)}{secret} and more".encode()
        shown = Answer("GET", "/", 400, headers, {}, body, 0.0).shown
        assert "co" not in shown
        body = f"{' ' * (1200 - number)}{secret} and more".encode()
        assert "co" not in Answer("GET", "/", 400, headers, {}, body, 0.0).shown


def test_the_end_of_an_option_is_a_place_too(machine):
    done = perform(
        command("printf", "%s", "--workers={value}"), server_of(access_of(machine)), go_on, value=4
    )
    assert done.output == "--workers=4"


def test_what_a_command_prints_is_read_back(machine):
    assert read_value(command("echo", " 24 "), server_of(access_of(machine)), go_on) == "24"
    json = command("echo", '{"a": {"b": [1, 7]}}', at="a.b.1")
    assert read_value(json, server_of(access_of(machine)), go_on) == 7


def test_a_command_that_fails_tells_its_exit_code_and_words(machine):
    failing = command("sh", "-c", "echo no such service >&2; exit 3")
    with pytest.raises(ActionFailed, match="exit code 3: no such service"):
        perform(failing, server_of(access_of(machine)), go_on)


def test_a_command_that_hangs_is_told_to_stop(machine, tmp_path):
    mark = tmp_path / "mark"
    script = f"echo begun; sleep 2; touch {shlex.quote(str(mark))}"
    begun = time.monotonic()
    with pytest.raises(ActionFailed, match=r"did not end within 1 s") as failed:
        perform(command("sh", "-c", script, seconds=1.0), server_of(access_of(machine)), go_on)
    assert time.monotonic() - begun < 10
    assert failed.value.output == "begun"


def test_much_output_is_read_and_not_kept(machine):
    script = "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo end >&2"
    done = perform(command("sh", "-c", script), server_of(access_of(machine)), go_on)
    assert len(done.output) < 1000
    with pytest.raises(ActionFailed, match="far more than a value"):
        read_value(command("sh", "-c", script), server_of(access_of(machine)), go_on)


def test_a_key_that_nobody_accepted_is_refused_with_its_fingerprint(machine):
    with pytest.raises(HostKeyRefused, match="not known") as refused:
        look(access_of(machine, host_key=""), server_of(access_of(machine)).endpoint.rules, go_on)
    assert fingerprint_of(machine.host_key) in str(refused.value)
    assert fingerprint_of(refused.value.key) == fingerprint_of(machine.host_key)


def test_another_host_key_than_the_accepted_one_is_refused(machine):
    other = ssh_server.public(ssh_server.new_key())
    with pytest.raises(HostKeyRefused, match="another host key") as refused:
        perform(command("true"), server_of(access_of(machine, host_key=other)), go_on)
    assert fingerprint_of(other) in str(refused.value)
    assert fingerprint_of(machine.host_key) in str(refused.value)


def test_a_wrong_key_is_told(machine):
    wrong = access_of(machine, key=ssh_server.private(ssh_server.new_key()))
    with pytest.raises(ActionFailed, match="refuses the login"):
        perform(command("true"), server_of(wrong), go_on)


def test_a_password_lets_in_too():
    right, wrong = "letters-and-more", "wrong-one"
    with ssh_server.within(right) as machine:
        access = replace(access_of(machine, key=""), password=right)
        assert perform(command("echo", "in"), server_of(access), go_on).output == "in"
        with pytest.raises(ActionFailed, match="refuses the login"):
            perform(command("true"), server_of(replace(access, password=wrong)), go_on)


def test_rules_of_addresses_hold_for_ssh(machine):
    access = access_of(machine)
    rules = parse_rules("10.0.0.1:22")
    server = Server(Endpoint("http://127.0.0.1:9", rules, Login(), Tls()), access)
    with pytest.raises(ActionFailed, match="no rule allows it"):
        perform(command("true"), server, go_on)


def test_a_machine_that_is_away_is_told():
    access = SshAccess("127.0.0.2", 1, "nobody", host_key="")
    with pytest.raises(ActionFailed, match="cannot be reached"):
        perform(command("true"), server_of(access), go_on)


class Stopped(Exception):
    pass


def test_a_command_is_left_at_once_when_somebody_cancels(machine):
    begun, cancelled = time.monotonic(), threading.Event()

    def check():
        if cancelled.is_set():
            raise Stopped

    threading.Timer(0.5, cancelled.set).start()
    with pytest.raises(Stopped):
        perform(command("sleep", "30"), server_of(access_of(machine)), check)
    assert time.monotonic() - begun < 6


def test_a_command_that_is_cancelled_leaves_no_error_that_nobody_has_read(machine, caplog):
    cancelled = threading.Event()

    def check():
        if cancelled.is_set():
            raise Stopped

    threading.Timer(0.3, cancelled.set).start()
    with pytest.raises(Stopped):
        perform(command("sleep", "30"), server_of(access_of(machine)), check)
    gc.collect()

    assert "never retrieved" not in caplog.text


def test_readiness_is_asked_until_it_is_there(machine, tmp_path):
    mark = tmp_path / "ready"
    threading.Timer(0.7, lambda: mark.write_text("yes")).start()
    probe = command("cat", str(mark), expect="yes", seconds=10.0)
    assert 0.5 < await_ready(probe, server_of(access_of(machine)), go_on) < 5
    with pytest.raises(ActionFailed, match="was not ready within 1 s"):
        await_ready(command("false", seconds=1.0), server_of(access_of(machine)), go_on)


def test_json_of_a_command_that_is_nested_too_deeply_is_none():
    with pytest.raises(ActionFailed, match="gave no JSON"):
        read_json("[" * 100_000, "", "The command")


def test_an_action_reads_what_it_writes():
    for data in (
        {"way": "http", "method": "PUT", "url": "/a", "body": {"value": "{value}"}, "seconds": 5.0},
        {"way": "command", "arguments": ["set", "{value}"], "seconds": 60.0},
        {"way": "manual", "words": "Set it."},
    ):
        assert parse(data, Role.APPLY).to_json() == data


@pytest.mark.parametrize("before", [["sh", "-c"], ["sudo", "/bin/bash", "-l", "-c"], ["dash"]])
def test_a_shell_does_not_run_the_value(before):
    with pytest.raises(BadAction, match="would run the value as a program"):
        parse({"way": "command", "arguments": [*before, "{value}"]}, Role.APPLY)


def test_a_program_in_a_shell_takes_the_value_as_its_argument():
    arguments = ["sh", "-c", 'echo "$1" > /etc/a', "sh", "{value}"]
    assert parse({"way": "command", "arguments": arguments}, Role.APPLY).arguments == tuple(
        arguments
    )
