"""Makes the locks from what is declared, with the pins that they have, and requirements.txt from its lock.

Usage: lock.py [--upgrade | --upgrade-package NAME | another option of uv]
       lock.py --check     fails where one of these files is stale; needs no network
"""

import hashlib
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from environment import ROOT, requirements_of

DECLARED = ("requires-python", "dependencies", "dependency-groups")
EXPORT = "requirements.txt"
EXPORTED = "# The group `product` of requirements.lock, written by script/lock.\n"
PINNED = re.compile(r"^[A-Za-z0-9]\S*==[^\\\n]+", re.MULTILINE)
REQUIREMENT = re.compile(r"^(?=[^\s#])", re.MULTILINE)
STAMP = re.compile(r"^# sha256:(\w+)\n", re.MULTILINE)
UV = (
    *("pip", "compile", "--quiet", "--system-certs", "--universal", "--python-version", "3.11"),
    *("--generate-hashes", "--emit-build-options", "--no-emit-index-url", "--no-header"),
)


@dataclass(frozen=True, slots=True)
class Group:
    """A section of a lock. It has what its sources want and the group that it extends does not have."""

    name: str
    sources: tuple[str, ...]
    """uv's arguments, which name files beside the lock."""
    extends: str = ""


@dataclass(frozen=True, slots=True)
class Lock:
    """A file of pins, all of one resolution."""

    path: str
    files: tuple[str, ...]
    """What declares them, beside the lock."""
    groups: tuple[Group, ...]


PYPROJECT = "pyproject.toml"
OURS = Lock(
    "requirements.lock",
    (PYPROJECT,),
    (
        Group("uv", (f"--group={PYPROJECT}:uv",)),
        Group("product", (PYPROJECT,)),
        Group("local", (PYPROJECT, "--group=local"), extends="product"),
        Group("docs", (f"--group={PYPROJECT}:docs",)),
        Group("dev", (PYPROJECT, "--group=dev"), extends="local"),
    ),
)
LOCKS = (
    OURS,
    Lock(
        "perfdash/local/pulp/requirements.lock",
        ("requirements.in", "requirements-rpm.in"),
        (
            Group("pulp", ("requirements.in",)),
            Group("rpm", ("requirements-rpm.in",), extends="pulp"),
        ),
    ),
    Lock(
        "campaigns/tests/overview/api/generators.lock",
        ("generators.in",),
        (Group("generators", ("generators.in",)),),
    ),
)


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        stale = find_stale(ROOT)
        for path in stale:
            sys.stderr.write(f"{path} is stale: run script/lock.\n")
        return bool(stale)
    for lock in LOCKS:
        text = make(ROOT, lock, sys.argv[1:])
        (ROOT / lock.path).write_text(text, encoding="utf-8")
    (ROOT / EXPORT).write_text(export(ROOT), encoding="utf-8")
    return 0


def find_stale(root: Path) -> list[str]:
    """Return the files of which what is declared, or they themselves, changed without script/lock."""
    stale = []
    for lock in LOCKS:
        text = (root / lock.path).read_text(encoding="utf-8")
        found = STAMP.search(text)
        if found is None or found[1] != digest(root, lock, text[found.end() :]):
            stale.append(lock.path)
    if (root / EXPORT).read_text(encoding="utf-8") != export(root):
        stale.append(EXPORT)
    return stale


def export(root: Path) -> str:
    return EXPORTED + requirements_of("product", (root / OURS.path).read_text(encoding="utf-8"))


def digest(root: Path, lock: Lock, body: str) -> str:
    """Return the digest of what declares a lock, and of its body."""
    declared = [declaration((root / lock.path).with_name(file)) for file in lock.files]
    digested = json.dumps([declared, repr(lock.groups), body])
    return hashlib.sha256(digested.encode()).hexdigest()


def declaration(file: Path) -> object:
    """Return what a file declares of dependencies; the rest of pyproject.toml does not matter."""
    text = file.read_text(encoding="utf-8")
    if file.name != PYPROJECT:
        return text
    tables = tomllib.loads(text)
    return [(tables["project"] | tables).get(name) for name in DECLARED]


def make(root: Path, lock: Lock, options: list[str]) -> str:
    """Return the text of a lock: what all its groups need together, in sections."""
    path = root / lock.path
    before = "\n".join(PINNED.findall(path.read_text(encoding="utf-8"))) if path.exists() else ""
    everything = dict.fromkeys(source for group in lock.groups for source in group.sources)
    resolved = resolve(path.parent, [*everything, *options], before)
    needs = {
        group.name: requirements(resolve(path.parent, group.sources, resolved))
        for group in lock.groups
    }
    body = ""
    for group in lock.groups:
        body += f"\n# [{group.name}]" + f" extends [{group.extends}]" * bool(group.extends) + "\n"
        own = needs[group.name].keys() - needs.get(group.extends, {}).keys()
        body += "".join(text for first, text in needs[group.name].items() if first in own)
    declared = " and ".join(lock.files)
    head = f"# Written by script/lock from {declared}: change that, and run it again.\n"
    return f"{head}# sha256:{digest(root, lock, body)}\n{body}"


def resolve(folder: Path, arguments: Iterable[str], pins: str) -> str:
    """Return what uv resolves there. It keeps the pins that are given, as far as it can. Raise SystemExit."""
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "pins.txt"
        output.write_text(pins, encoding="utf-8")
        uv = str(Path(sys.executable).with_name("uv"))
        command = [uv, *UV, *arguments, "--output-file", str(output)]
        done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL)
        if done.returncode:
            raise SystemExit(f"{folder}: uv could not resolve {' '.join(arguments)}.")
        return output.read_text(encoding="utf-8")


def requirements(resolved: str) -> dict[str, str]:
    """Return each requirement with its digests, by its first line. An option, such as --no-binary, is one too."""
    texts = (text.rstrip() + "\n" for text in REQUIREMENT.split(resolved) if text.strip())
    return {text.partition("\n")[0]: text for text in texts}


if __name__ == "__main__":
    sys.exit(main())
