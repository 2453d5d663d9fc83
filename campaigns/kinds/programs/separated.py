"""Separate a command from everything else on a machine: namespaces of its own, by bubblewrap. Standard library only.

The command sees no process but its own, writes into its own directory and a /tmp of its own alone, and finds the directories
of perfdash empty. The network is that of the machine: a command is there to use it. When its first process ends, however
that comes about, the kernel ends all others, whatever session, group or environment they gave themselves.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

INSIDE = Path(__file__).with_name("inside.py")
PROGRAM = "bwrap"
TEMPORARY = "/tmp"  # noqa: S108 - the command gets one of its own
PROBE_SECONDS = 10
ALWAYS_HIDDEN = ("/run/secrets", "/var/run/secrets")
"""Where containers find secrets, those of Kubernetes' service accounts among them."""


def words(
    own: Sequence[Path], work: Path, hidden: Sequence[str], arguments: Sequence[str] = ()
) -> list[str]:
    """Return the words before a command that separate it.

    own: directories that it may read and write. work: the one in which it begins. hidden: directories that it finds empty.
    arguments: files of /tmp that these name are there, such as a script that somebody tries out.
    """
    result = [
        *(PROGRAM, "--die-with-parent", "--unshare-user-try", "--unshare-pid", "--unshare-ipc"),
        *("--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", TEMPORARY),
    ]
    empty = [Path(each).resolve() for each in (*hidden, *ALWAYS_HIDDEN) if Path(each).is_dir()]
    for each in dict.fromkeys(empty):
        result += ["--tmpfs", str(each)]
    for argument in arguments:
        named = Path(argument)
        if named.is_relative_to(TEMPORARY) and named.is_file():
            file = named.resolve()
            if not any(file.is_relative_to(each) for each in empty):
                result += ["--ro-bind", str(file), argument]
    for needed in dict.fromkeys((sys.base_prefix, str(INSIDE))):  # they may be below one of those
        result += ["--ro-bind", needed, needed]
    for place in own:
        result += ["--bind", str(place), str(place)]
    return [*result, "--chdir", str(work), "--"]


def inside(descriptor: int, arguments: Sequence[str]) -> list[str]:
    """Return the command that runs another one within, and reports to a descriptor."""
    interpreter = os.path.realpath(
        sys.executable
    )  # its link may be below /tmp, as in an environment made there
    return [interpreter, "-I", "-S", str(INSIDE), str(descriptor), *arguments]


def why_not(prefix: Sequence[str], account: dict[str, int]) -> str:
    """Return why commands cannot be separated on this machine; empty where they can."""
    if shutil.which(PROGRAM) is None:
        return "bubblewrap is not installed (Debian: apt-get install bubblewrap)"
    try:
        tried = subprocess.run(  # noqa: S603 - our own words
            [*prefix, *inside(1, ["/bin/true"])],
            user=account.get("uid"),
            group=account.get("gid"),
            extra_groups=[] if account else None,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"bubblewrap does not work here ({type(error).__name__})"
    if tried.returncode:
        said = " ".join(tried.stderr.decode(errors="replace").split())[:200]
        return f"bubblewrap does not work here ({said or tried.returncode})"
    return ""
