"""What a command on a worker reads of the worker, and the user that it runs as."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict
from pathlib import Path

import pytest

from campaigns.kinds.base import commanding
from campaigns.kinds.programs.accounts import Account, NoAccount, account_of, require_way
from campaigns.kinds.programs.commands import Command, new_marker
from campaigns.kinds.programs.program import ROOT, run_program
from campaigns.kit import kernel

MODULE = "campaigns.kinds.programs.run_command"
LOOKS = "cat /proc/*/environ; ls -l /proc/$PPID/fd /proc/$$/fd; tr '\\0' '\\n' </proc/$$/environ"
PR_CAPBSET_DROP = 24
WORKER = """
import sys, threading, os
from campaigns.kinds.programs.commands import Command
from campaigns.kinds.programs.program import run_program
if sys.argv[2] == "hidden":
    import perfdash
held = os.open("/etc/passwd", os.O_RDONLY)
os.set_inheritable(held, True)
child = os.fork()
if child == 0:  # as the children of a worker are
    command = Command(("sh", "-c", sys.argv[3]), 20.0, 10_000_000, "m" * 24)
    request = command.request(sys.argv[1])
    run_program("campaigns.kinds.programs.run_command", request, cancelled=threading.Event(),
                lease_seconds=lambda: 15.0, deadline_seconds=60.0)
    os._exit(0)
os.waitpid(child, 0)
"""


def without_capabilities():
    """Let root be any user."""
    for number in range(64):
        kernel.LIBC.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)


@pytest.fixture
def place():
    """A directory that another user may enter."""
    path = Path(tempfile.mkdtemp(prefix="perfdash-accounts-"))
    yield path
    shutil.rmtree(path)


@pytest.mark.system
@pytest.mark.parametrize("how", ["hidden", "open"])
def test_a_program_reads_no_secret_of_the_worker(tmp_path, how):
    """An open process shows that the program would find it. Root, too, is any user here."""
    path = os.pathsep.join([str(ROOT), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", WORKER, str(tmp_path), how, LOOKS],
        env={**os.environ, "PYTHONPATH": path, "SECRET_KEY": "planted-secret"},
        preexec_fn=without_capabilities,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    printed = (tmp_path / "output").read_text(errors="replace")
    assert "PERFDASH_RUN=" in printed
    assert ("planted-secret" in printed) == (how == "open")
    assert "/etc/passwd" not in printed.partition("/proc/$$")[2]


@pytest.mark.system
@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_another_user_runs_it_and_nothing_of_it_stays(place, settings):
    nobody = account_of("nobody")
    assert nobody is not None
    place.chmod(0o711)
    (place / "key").write_text("planted-secret")
    (place / "key").chmod(0o600)
    script = (
        "id -u; cat ../secrets/token; ls -A ..; cat ../key; echo x=1 >out; ln -s ../key linked; "
        "(setsid sleep 60 &) ; sleep 0.1"
    )
    command = Command(
        ("sh", "-c", script), 20.0, 100_000, new_marker(), secrets={"token": "s3cret-token\n"}
    )
    outcome = run_program(
        MODULE,
        {**command.request(str(place)), "account": asdict(nobody)},
        cancelled=threading.Event(),
        lease_seconds=lambda: 15.0,
        deadline_seconds=60.0,
    )
    printed = (place / "output").read_text().splitlines()
    assert printed[:2] == [str(nobody.uid), "s3cret-token"]
    assert "Permission denied" in (place / "errors").read_text()
    assert (outcome.result["left"], outcome.result["left_names"]) == (1, ["sleep"])
    assert commanding._read_file(place / "work" / "out", 100, nobody) == b"x=1\n"
    assert commanding._read_file(place / "work" / "linked", 100, nobody) is None
    os.link(place / "key", place / "work" / "hard")
    assert commanding._read_file(place / "work" / "hard", 100, nobody) is None


def test_who_cannot_be_the_user_is_told(tmp_path, monkeypatch):
    status = tmp_path / "status"
    assert account_of("") is None
    with pytest.raises(NoAccount, match="names “nobody-of-this-name”, whom"):
        account_of("nobody-of-this-name", status)
    with pytest.raises(NoAccount, match="or root"):
        account_of("root", status)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    status.write_text("Name:\tpython\nCapEff:\t00000000a80425fb\n")  # as in a container
    with pytest.raises(NoAccount, match="it lacks CAP_SYS_PTRACE"):
        account_of("nobody", status)
    status.write_text("CapEff:\t000001ffffffffff\n")
    found = account_of("nobody", status)
    assert found is not None
    assert found == account_of(str(found.uid), status)


def test_the_way_to_the_directory_must_be_open(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a").chmod(0o700)
    with pytest.raises(NoAccount, match=r"may not walk through /.*WORK_DIRECTORY"):
        require_way(tmp_path / "a" / "b", Account(12345, 12345))
