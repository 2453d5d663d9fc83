"""What a virtual host understands of what it is told over SSH. Nothing else: it is no shell."""

import pytest

from campaigns.kinds.hosts.program.ssh.commands import Action, Command, UnknownCommand, read_command

HERE = "/var/tmp/foreman-ssh-cmd-1f-2"  # noqa: S108 - of no machine


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("true", Command(Action.NOTHING)),
        (f"mkdir -p {HERE}", Command(Action.NOTHING, "1f-2")),
        ("mkdir -p /srv/my\\ jobs/foreman-ssh-cmd-3", Command(Action.NOTHING, "3")),
        (
            f"tee {HERE}/script >/dev/null && chmod 500 {HERE}/script",
            Command(Action.UPLOAD, "1f-2", "script"),
        ),
        (f"chmod 600 {HERE}/output", Command(Action.NOTHING, "1f-2", "output")),
        (
            f"setfacl -m u:nobody:rx {HERE}/script-wrapper {HERE}/script",
            Command(Action.NOTHING, "1f-2", "script-wrapper"),
        ),
        (f"{HERE}/script", Command(Action.RUN, "1f-2", "script")),
        (f"{HERE}/script-wrapper", Command(Action.RUN, "1f-2", "script-wrapper")),
        (f"sudo -p 'rex login: ' -u a  {HERE}/script", Command(Action.RUN, "1f-2", "script")),
        (f"dzdo -u a  {HERE}/script", Command(Action.RUN, "1f-2", "script")),
        (f"su - a -c  {HERE}/script", Command(Action.RUN, "1f-2", "script")),
        (f"rm {HERE}/script", Command(Action.REMOVE, "1f-2", "script")),
        (f"rm -rf {HERE}", Command(Action.REMOVE, "1f-2")),
        (f"kill $(cat {HERE}/pid)", Command(Action.KILL, "1f-2", "pid")),
    ],
)
def test_what_a_smart_proxy_sends_is_understood(text, command):
    assert read_command(text) == command


@pytest.mark.parametrize(
    "text",
    [
        "",
        "false",
        "true; reboot",
        "rm -rf /",
        f"rm -rf {HERE}/..",
        f"rm -rf {HERE} /etc",
        f"rm -rf {HERE};reboot",
        "mkdir -p /tmp/other",
        "mkdir -p foreman-ssh-cmd-1",
        "mkdir -p /tmp/$(reboot)/foreman-ssh-cmd-1",
        "mkdir -p /tmp/foreman-ssh-cmd-",
        f"tee {HERE}/script >/dev/null && chmod 500 {HERE}/output",
        f"tee {HERE}/script >/dev/null && chmod u+s {HERE}/script",
        f"tee {HERE}/other >/dev/null && chmod 500 {HERE}/other",
        f"tee {HERE}/script > /etc/passwd && chmod 500 {HERE}/script",
        "setfacl -m u:nobody:rx",
        f"setfacl -m u:nobody:rx {HERE}/script /etc/shadow",
        f"kill $(cat {HERE}/script)",
        "kill 1",
        f"sudo -u a {HERE}/script",
        f"'{HERE}/script",
    ],
)
def test_nothing_else_is(text):
    with pytest.raises(UnknownCommand):
        read_command(text)


def test_no_long_text_is_read():
    with pytest.raises(UnknownCommand):
        read_command(f"mkdir -p /{'x/' * 2000}foreman-ssh-cmd-1")


def test_no_nul_is():
    with pytest.raises(UnknownCommand):
        read_command(f"{HERE}\0/script")
