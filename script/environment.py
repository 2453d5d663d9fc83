"""Makes the virtual environment, with pinned wheels. Needs Python 3.11 and pip, nothing else.

Usage: environment.py GROUP [LOCK]. LOCK is requirements.lock, or another file with groups. Prints the directory of the
environment. It does nothing where the group was installed already, and waits where somebody else is installing it.
"""

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
HEADING = re.compile(r"^# \[([a-z-]+)\](?: extends \[([a-z-]+)\])?\n", re.MULTILINE)


def main() -> int:
    group, lock = sys.argv[1], ROOT / (sys.argv[2] if len(sys.argv) > 2 else LOCK)
    wanted = requirements_of(group, lock.read_text(encoding="utf-8"))
    venv = Path(os.environ.get("PERFDASH_VENV") or ROOT / ".venv").absolute()
    installed = venv / f".installed-{group}"
    if not up_to_date(venv, installed, wanted):
        venv.mkdir(parents=True, exist_ok=True)
        waiting = os.open(venv, os.O_RDONLY)
        fcntl.flock(waiting, fcntl.LOCK_EX)
        try:
            if not up_to_date(venv, installed, wanted):
                say(f"Installing the group {group} of {lock.name} into {venv} ...")
                make(venv)
                requirements = write(venv / f".wanted-{group}", wanted)
                install(venv, requirements)
                requirements.replace(installed)
        finally:
            os.close(waiting)
    print(venv)
    return 0


def requirements_of(group: str, lock: str) -> str:
    """Return the requirements of a group, without comments: its section of the lock, below those that it extends."""
    _, *pieces = HEADING.split(lock)
    sections = {
        name: (extended, section)
        for name, extended, section in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True)
    }
    if group not in sections:
        raise SystemExit(f"There is no group {group}, only {', '.join(sections)}.")
    extended, section = sections[group]
    lines = section.splitlines(keepends=True)
    own = "".join(line for line in lines if line.strip() and not line.lstrip().startswith("#"))
    return (requirements_of(extended, lock) if extended else "") + own


def up_to_date(venv: Path, installed: Path, wanted: str) -> bool:
    """Say whether exactly these requirements were installed, and the interpreter still stands."""
    if not (venv / "bin/python").exists() or not installed.exists():
        return False
    return installed.read_text(encoding="utf-8") == wanted


def make(venv: Path) -> None:
    """Make an environment without pip, which takes a second; ensurepip takes ten, and may be missing."""
    if succeeds([venv / "bin/python", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]):
        return
    run([sys.executable, "-m", "venv", "--without-pip", "--clear", venv])


def install(venv: Path, requirements: Path) -> None:
    """Install wheels, by digests where the file has any; by uv, and by pip where uv cannot."""
    hashed = "--hash=" in requirements.read_text(encoding="utf-8")
    options: list[str | Path] = [*["--require-hashes"] * hashed, "--only-binary", ":all:", "-r"]
    uv = find_uv(venv)
    if not succeeds([uv, "--version"]):
        wanted = requirements_of("uv", LOCK.read_text(encoding="utf-8"))
        installer = write(venv / ".installer", wanted)
        pinned: list[str | Path] = ["--require-hashes", "--only-binary", ":all:", "-r"]
        succeeds([*find_pip(venv), "install", "--quiet", *pinned, installer])
        installer.unlink()
    # The machine's own certificates: there may be a proxy between here and the package index.
    by_uv: list[str | Path] = [
        uv,
        "pip",
        "install",
        "--quiet",
        "--system-certs",
        "--python",
        venv / "bin/python",
    ]
    if succeeds([*by_uv, *options, requirements]):
        return
    say("uv could not install; trying pip, which is slower ...")
    run([*find_pip(venv), "install", *options, requirements])


def find_uv(venv: Path) -> Path:
    """Return the path of uv in the environment, or next to the interpreter."""
    beside = Path(sys.executable).with_name("uv")
    return beside if beside.exists() and not (venv / "bin/uv").exists() else venv / "bin/uv"


def find_pip(venv: Path) -> list[str | Path]:
    """Find a pip that can install into the environment: the interpreter's own, or a new one in it."""
    if succeeds([sys.executable, "-m", "pip", "--version"]):
        return [sys.executable, "-m", "pip", "--python", venv / "bin/python"]
    if not succeeds([venv / "bin/python", "-m", "pip", "--version"]):
        run([venv / "bin/python", "-m", "ensurepip"])
    return [venv / "bin/python", "-m", "pip"]


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def succeeds(command: list[str | Path]) -> bool:
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    except OSError:
        return False
    if done.returncode and "install" in command:
        sys.stderr.buffer.write(done.stderr)
    return done.returncode == 0


def run(command: list[str | Path]) -> None:
    """Run a command whose output people see. Raise SystemExit where it fails."""
    done = subprocess.run(command, stdout=sys.stderr)
    if done.returncode:
        words = " ".join(map(str, command))
        raise SystemExit(
            f"This failed: {words}\nNeeded: Python 3.11 or newer with pip (Debian: apt install"
            " python3-pip), and a way to the Python package index."
        )


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
