"""Makes the virtual environment, with pinned wheels. Needs Python 3.11 and pip, nothing else.

Usage: environment.py REQUIREMENTS, a file here or anywhere. Prints the directory of the environment. It does nothing where
the requirements were installed already, and waits where somebody else is installing them.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSTALLER = ROOT / "requirements-uv.txt"


def main() -> int:
    requirements = ROOT / sys.argv[1]
    venv = Path(os.environ.get("PERFDASH_VENV") or ROOT / ".venv").absolute()
    marker = venv / f".installed-{requirements.name}"
    if not up_to_date(venv, marker, requirements):
        venv.mkdir(parents=True, exist_ok=True)
        lock = os.open(venv, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            if not up_to_date(venv, marker, requirements):
                say(f"Installing {requirements.name} into {venv} ...")
                make(venv)
                install(venv, requirements)
                marker.write_text(fingerprint(requirements), encoding="utf-8")
        finally:
            os.close(lock)
    print(venv)
    return 0


def up_to_date(venv: Path, marker: Path, requirements: Path) -> bool:
    """Say whether exactly these requirements were installed, and the interpreter still stands."""
    if not (venv / "bin/python").exists() or not marker.exists():
        return False
    return marker.read_text(encoding="utf-8") == fingerprint(requirements)


def fingerprint(requirements: Path) -> str:
    return hashlib.sha256(requirements.read_bytes()).hexdigest()


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
        pinned: list[str | Path] = ["--require-hashes", "--only-binary", ":all:", "-r"]
        succeeds([*find_pip(venv), "install", "--quiet", *pinned, INSTALLER])
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
