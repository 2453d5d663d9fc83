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
    """Return the words before a command that separate it; empty where bubblewrap is not installed.

    own: directories that it may read and write. work: the one in which it begins. hidden: directories that it finds empty.
    arguments: files of /tmp that these name are there, such as a script that somebody tries out.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        return []
    result = [
        *(program, "--die-with-parent", "--unshare-user-try", "--unshare-pid", "--unshare-ipc"),
        *("--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", TEMPORARY),
    ]
    empty = [Path(each).resolve() for each in (*hidden, *ALWAYS_HIDDEN) if Path(each).is_dir()]
    for each in dict.fromkeys(empty):
        result += ["--tmpfs", str(each)]
    for argument in arguments:
        file = os.path.realpath(argument)
        if _is_temporary(argument) and not any(Path(file).is_relative_to(each) for each in empty):
            result += ["--ro-bind-try", file, argument]
    for needed in dict.fromkeys((sys.base_prefix, str(INSIDE))):  # they may be below one of those
        result += ["--ro-bind", needed, needed]
    for place in own:
        result += ["--bind", str(place), str(place)]
    return [*result, "--chdir", str(work), "--"]


def _is_temporary(argument: str) -> bool:
    """Return whether an argument names a file of /tmp, and nothing else in a roundabout way."""
    return (
        argument.startswith(f"{TEMPORARY}/")
        and os.path.normpath(argument) == argument
        and os.path.isfile(argument)
    )


def inside(tells: int, given: int, arguments: Sequence[str]) -> list[str]:
    """Return the command that runs another one within. tells, given: its descriptors, see `inside`."""
    # The link of the interpreter may be below /tmp, as in an environment that was made there.
    interpreter = os.path.realpath(sys.executable)
    return [interpreter, "-I", "-S", str(INSIDE), str(tells), str(given), *arguments]


def why_not(prefix: Sequence[str]) -> str:
    """Return why commands cannot be separated on this machine; empty where they can.

    prefix: without the arguments of a command, so that no argument of an author decides it.
    """
    if not prefix:
        return "bubblewrap is not installed (Debian: apt-get install bubblewrap)"
    try:
        tried = subprocess.run(  # noqa: S603 - our own words
            [*prefix, *inside(1, 0, ["/bin/true"])],
            input=b"{}",
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
