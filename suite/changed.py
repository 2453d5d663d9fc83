"""Runs the checks and the quick tests that a change can fail, and says what it leaves out.

A change in a room can fail tests of this room, and of the rooms whose modules import what has changed; the graph of
imports is import-linter's. What nobody imports because it is found by its name (a kind, a format, a source of watches) has
few tests: its own, those of its contract, and those that name it.
Usage: python -m suite.changed [REF] [--list] [-- pytest's arguments]
"""

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import grimp

from suite.sharing import below, kept_seconds

ROOT = Path(__file__).resolve().parent.parent
TESTS = "campaigns/tests"
EVERYTHING = ("campaigns", "client", "perfdash", "sandbox", "suite")
"""Folders with quick tests."""
FOR_ALL = re.compile(
    r"(conftest|manage|perfdash/settings|perfdash/environment|campaigns/apps|campaigns/tests/conftest)\.py"
    r"|pyproject\.toml|requirements\.lock|suite/tiers\.py"
)
"""Files on which every test depends."""
ALL_PAGES = re.compile(
    r"templates/(components|django)/|templates/[^/]+$|campaigns/static/campaigns/"
)
"""Files that every page has."""
MOST_SECONDS = 60.0
"""Tests of the tier `system` of what has changed are run as long as they take less, by the clock of one worker."""


class Unknown(Exception):
    """Git does not know what to compare with."""


@dataclass
class Selection:
    """What is run for a change."""

    files: list[str]
    paths: set[str] = field(default_factory=set)
    """Files and folders of tests, of which the quick ones are run."""
    own: set[str] = field(default_factory=set)
    """Those of them that lie in what has changed: their tests that start programs are run, too."""
    left: list[str] = field(default_factory=list)
    """Sentences about what is not run."""


class Sources:
    """The tree, its rooms and who imports whom.

    Raises the errors of grimp for a tree that Python cannot parse.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        self.linter = settings["tool"]["importlinter"]

    @cached_property
    def graph(self) -> grimp.ImportGraph:
        return grimp.build_graph(
            *self.linter["root_packages"], cache_dir=str(self.root / ".import_linter_cache")
        )

    @cached_property
    def tests(self) -> dict[str, str]:
        """The text of each file of quick tests, by its path."""
        found = (file for top in EVERYTHING for file in (self.root / top).rglob("test_*.py"))
        return {
            str(file.relative_to(self.root)): file.read_text(encoding="utf-8") for file in found
        }

    @cached_property
    def families(self) -> set[str]:
        """Folders whose members are independent of one another, and found by name."""
        contracts = self.linter["contracts"]
        independent = (each["modules"] for each in contracts if each["type"] == "independence")
        return {
            module.removesuffix(".*").replace(".", "/")
            for modules in independent
            for module in modules
        }

    def module(self, path: str) -> str:
        """Return the module's name of a file of Python."""
        return (
            path.removeprefix("client/")
            .removesuffix(".py")
            .removesuffix("/__init__")
            .replace("/", ".")
        )

    def importers(self, path: str) -> set[str]:
        """Return the files that import a module, directly or not."""
        name = self.module(path)
        if name not in self.graph.modules:
            return set()
        return {self.file(module) for module in self.graph.find_downstream_modules(name)}

    def file(self, module: str) -> str:
        path = module.replace(".", "/")
        return f"{path}/__init__.py" if (self.root / path).is_dir() else f"{path}.py"

    def tests_naming(self, *words: str) -> set[str]:
        """Return the tests whose text has one of the words."""
        return {path for path, text in self.tests.items() if any(word in text for word in words)}


def git(*arguments: str, root: Path = ROOT) -> list[str]:
    """Return the lines of git's answer. Raise Unknown with what it says if it fails."""
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    if done.returncode:
        raise Unknown(done.stderr.strip())
    return done.stdout.splitlines()


def default_ref(root: Path = ROOT) -> str:
    """Return `origin/main`, or the commit before the last one where nothing differs from it."""
    try:
        git("rev-parse", "--verify", "--quiet", "origin/main", root=root)
        if changed_files("origin/main", root):
            return "origin/main"
    except Unknown:
        pass
    return "HEAD~1"


def changed_files(ref: str, root: Path = ROOT) -> list[str]:
    """Return the files that differ from the commit, those that are new and not committed included."""
    differing = git("diff", "--name-only", "--no-renames", ref, "--", root=root)
    new = git("ls-files", "--others", "--exclude-standard", root=root)
    return sorted({*differing, *new})


def is_test(path: str) -> bool:
    return Path(path).name.startswith("test_") and path.endswith(".py")


def select(files: Sequence[str], sources: Sources) -> Selection:
    """Return the tests of a change of these files."""
    selection = Selection(list(files))
    for path in files:
        if FOR_ALL.fullmatch(path):
            selection.paths.update(EVERYTHING)
        elif path.startswith("e2e/"):
            selection.left.append(f"{path}: script/test {path}")
        elif "/tests/" in path:
            _of_tests(path, sources, selection)
        elif path.endswith(".py"):
            _of_a_module(path, sources, selection)
        else:
            selection.paths |= _of_another_file(path, sources)
    selection.paths = _outermost(path for path in selection.paths if (sources.root / path).exists())
    return selection


def _of_tests(path: str, sources: Sources, selection: Selection) -> None:
    """Add a test that has changed, the tests that import it, or those of its folder if it is no module of tests."""
    if is_test(path):
        selection.paths.add(path)
        selection.own.add(path)
    elif path.endswith(".py") and Path(path).name != "conftest.py":
        importers = sources.importers(path)
        selection.paths.update(filter(is_test, importers))
        fixtures = (Path(file) for file in importers if Path(file).name == "conftest.py")
        selection.paths.update(str(file.parent) for file in fixtures)
    else:
        folder = next(each for each in Path(path).parents if _has_tests(sources.root / each))
        selection.paths.add(str(folder))


def _has_tests(folder: Path) -> bool:
    return not folder.exists() or folder.name == "tests" or any(folder.glob("test_*.py"))


def _of_a_module(path: str, sources: Sources, selection: Selection) -> None:
    importers = sources.importers(path)
    selection.paths.update(filter(is_test, importers))
    selection.paths |= sources.tests_naming(path)
    member = _member(path, sources)
    if member and not any(_outside(file, member) for file in importers):
        family, name = member.rsplit("/", 1)
        mirror = mirrored(family)
        siblings = {each.stem for each in (sources.root / family).iterdir()} - {name}
        for test in sources.tests:
            if test.startswith(f"{mirror}/") and not _of_a_sibling(test, mirror, siblings):
                selection.paths.add(test)
        selection.own |= {mirrored(member), f"{mirror}/test_{name}.py"}
        selection.paths |= sources.tests_naming(f'"{name}"', f"'{name}'") & _contracts(sources)
        return
    selection.paths |= _rooms(path, importers)


def _contracts(sources: Sources) -> set[str]:
    """Return the tests of what is found by name, wherever they lie: they name no module."""
    return sources.tests_naming("all_kinds()", "all_readers()", "all_sources()")


def _member(path: str, sources: Sources) -> str | None:
    """Return the kind, format or source that a file belongs to, as its path without a suffix."""
    for family in sources.families:
        if path.startswith(f"{family}/"):
            first = path.removeprefix(f"{family}/").split("/")[0]
            return f"{family}/{first.removesuffix('.py')}"
    return None


def _outside(file: str, member: str) -> bool:
    return (
        not is_test(file)
        and "/tests/" not in file
        and not file.startswith((f"{member}/", f"{member}."))
    )


def _of_a_sibling(test: str, mirror: str, siblings: Iterable[str]) -> bool:
    rest = test.removeprefix(f"{mirror}/")
    return any(
        rest.startswith((f"{name}/", f"test_{name}.py", f"test_{name}_")) for name in siblings
    )


def mirrored(path: str) -> str:
    """Return the folder of tests of a folder of `campaigns`."""
    return path.replace("campaigns", TESTS, 1)


def _rooms(path: str, importers: Iterable[str]) -> set[str]:
    """Return the tests of the room of a file, and of the rooms of those that import it."""
    top, *below_top = path.split("/")
    if top not in EVERYTHING:
        return set()
    if top == "client":
        return {"client"}
    if top == "campaigns" and (
        len(below_top) == 1 or below_top[0] in {"migrations", "models", "urls"}
    ):
        return {TESTS, "perfdash/tests"}
    found = set()
    for file in {path, *(each for each in importers if "/tests/" not in each)}:
        package, room = file.split("/")[:2]
        found.add(
            f"{TESTS}/{room.removesuffix('.py')}" if package == "campaigns" else f"{package}/tests"
        )
        if file.startswith("campaigns/urls/"):  # perfdash names them by a text
            found.add("perfdash/tests")
    return found


def _of_another_file(path: str, sources: Sources) -> set[str]:
    """Return the tests that name the file, and those of its room's or of all pages."""
    name = Path(path).name
    found = sources.tests_naming(
        path if "/" in path else f'"{path}"', *([f"/{name}"] if "." in name else [])
    )
    if ALL_PAGES.match(path):
        return found | {test for test in sources.tests if "/pages/" in test} | {"perfdash/tests"}
    if path.startswith("templates/"):
        return found | {f"{TESTS}/{path.split('/')[1]}"}
    if path.startswith("campaigns/"):
        return found | {f"{TESTS}/{path.split('/')[1]}", f"{TESTS}/test_views.py"}
    if path.startswith("deploy/"):
        return found | sources.tests_naming('"deploy"', "deploy/")
    if path.startswith("docs/"):
        return found | sources.tests_naming('"docs"', "docs/")
    if path.startswith(("sandbox/", "client/", "perfdash/")):
        top = path.split("/")[0]
        return found | {f"{top}/tests"}
    return found


def _outermost(paths: Iterable[str]) -> set[str]:
    """Return the paths without those that lie below others of them."""
    given = set(paths)
    return {path for path in given if not any(str(above) in given for above in Path(path).parents)}


def affordable(own: Iterable[str]) -> tuple[set[str], set[str]]:
    """Divide paths into those whose tests that start programs are run, and those where they take too long."""
    kept = kept_seconds()
    taken: set[str] = set()
    left: set[str] = set()
    total = 0.0
    seconds = {
        path: sum(each for file, each in kept.items() if below(file, [path])) for path in own
    }
    for path in sorted(seconds, key=seconds.__getitem__):
        total += seconds[path]
        (taken if total <= MOST_SECONDS else left).add(path)
    return taken, left


def report(
    ref: str, selection: Selection, left_own: Iterable[str], sources: Sources
) -> Iterator[str]:
    """Give lines on what is run, and what is not."""
    run = {test for test in sources.tests if below(test, selection.paths)}
    kept = kept_seconds()
    took = sum(kept.get(test, 0.0) for test in run)
    whole = sum(kept.get(test, 0.0) for test in sources.tests) or 1.0
    yield f"{len(selection.files)} files differ from {ref}."
    yield (
        f"Quick tests of {len(run)} of {len(sources.tests)} files, about {took / whole:.0%} of their time: "
        f"{', '.join(sorted(selection.paths)) or 'none'}"
    )
    rooms = {test.split("/")[2] for test in sources.tests if test.startswith(f"{TESTS}/")}
    not_run = sorted(
        f"{TESTS}/{room}"
        for room in rooms
        if not any(
            below(f"{TESTS}/{room}", [t]) or t.startswith(f"{TESTS}/{room}")
            for t in selection.paths
        )
    )
    others = [
        each
        for each in EVERYTHING[1:]
        if not any(path.split("/")[0] == each for path in selection.paths)
    ]
    if not_run or others:
        yield f"Left out, since nothing there imports what has changed: {', '.join([*not_run, *others])}"
    for path in sorted(left_own):
        yield f"Left out, since they take long: tests that start programs (script/test {path})"
    for sentence in selection.left:
        yield f"Left out: {sentence}"
    yield "Left out: tests that start programs, but those of what has changed, and all of e2e (script/test --all)"


def main(words: Sequence[str]) -> int:
    """Do what the command line says and return the exit code."""
    split = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(prog="script/test --changed")
    parser.add_argument("ref", nargs="?")
    parser.add_argument("--list", action="store_true", help="print the paths of tests, run nothing")
    options = parser.parse_args(words[:split])
    sys.path.insert(0, str(ROOT / "client"))
    sources = Sources()
    try:
        ref = options.ref or default_ref()
        selection = select(changed_files(ref), sources)
    except Unknown as error:
        sys.stderr.write(f"{error}\nGive a commit to compare with: script/test --changed REF\n")
        return 2
    if options.list:
        sys.stdout.writelines(f"{path}\n" for path in sorted(selection.paths))
        return 0
    own, left = affordable(path for path in _outermost(selection.own) if (ROOT / path).exists())
    sys.stdout.writelines(f"{line}\n" for line in report(ref, selection, left, sources))
    sys.stdout.flush()
    if not selection.files:
        return 0
    status = subprocess.run(["script/lint", *selection.files], cwd=ROOT).returncode
    if selection.paths:
        command = [
            *(sys.executable, "-m", "perfdash.local", "run", sys.executable, "-m", "pytest"),
            *("--numprocesses", "logical", "--maxprocesses", "4", "--dist", "loadfile"),
            *("--quick", *(f"--own={path}" for path in sorted(own))),
            *words[split + 1 :],
        ]
        tests = subprocess.run([*command, *sorted(selection.paths)], cwd=ROOT).returncode
        status = status or tests
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
