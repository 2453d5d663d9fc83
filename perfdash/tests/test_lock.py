"""What script/lock.py finds stale, and what script/environment.py reads in a lock."""

import importlib
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCK, EXPORT = "requirements.lock", "requirements.txt"
PULP, GENERATORS = "perfdash/local/pulp", "campaigns/tests/overview/api"


@pytest.fixture
def script(monkeypatch):
    """Import a module of script/, which is no package."""
    monkeypatch.syspath_prepend(ROOT / "script")
    return importlib.import_module


@pytest.fixture
def copy(script, tmp_path):
    """The locks and what declares them, in a folder of their own."""
    paths = [EXPORT]
    for lock in script("lock").LOCKS:
        beside = Path(lock.path).parent
        paths += [lock.path, *(str(beside / file) for file in lock.files)]
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


def replace(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_the_locks_as_they_are_follow_from_what_is_declared(script):
    assert script("lock").find_stale(ROOT) == []


@pytest.mark.parametrize(
    ("path", "old", "new", "stale"),
    [
        ("pyproject.toml", '"numpy==', '"numpy==1.', [LOCK]),
        ("pyproject.toml", '"numpy==', '# "numpy==', [LOCK]),
        ("pyproject.toml", '"uv==', '"uv>=', [LOCK]),
        ("pyproject.toml", '"pytest==', '"pytest>=', [LOCK]),
        ("pyproject.toml", 'local = ["', 'local = ["six", "', [LOCK]),
        ("pyproject.toml", '">=3.11"', '">=3.12"', [LOCK]),
        (f"{PULP}/requirements.in", "pulpcore==", "pulpcore>=", [f"{PULP}/{LOCK}"]),
        (f"{PULP}/requirements-rpm.in", "pulp-rpm==", "pulp-rpm>=", [f"{PULP}/{LOCK}"]),
        (f"{GENERATORS}/generators.in", "urllib3==", "urllib3>=", [f"{GENERATORS}/generators.lock"]),
        (LOCK, "\nnumpy==", "\nnumpy==1.", [LOCK, EXPORT]),
        (LOCK, "\npytest==", "\npytest==1.", [LOCK]),
        (LOCK, "# sha256:", "# ", [LOCK]),
        (EXPORT, "\nnumpy==", "\nnumpy==1.", [EXPORT]),
    ],
)  # fmt: skip
def test_a_change_without_script_lock_is_stale(script, copy, path, old, new, stale):
    replace(copy / path, old, new)

    assert script("lock").find_stale(copy) == stale


def test_what_is_no_dependency_may_change(script, copy):
    replace(copy / "pyproject.toml", "line-length = 100", "line-length = 99")

    assert script("lock").find_stale(copy) == []


def test_an_environment_that_the_tests_extend_keeps_its_versions(script):
    lock = (ROOT / LOCK).read_text()
    groups = [
        script("environment").requirements_of(group, lock) for group in ("product", "local", "dev")
    ]

    product, local, dev = groups
    assert local.startswith(product)
    assert dev.startswith(local)
    assert (ROOT / EXPORT).read_text().endswith(product)
    names = re.findall(r"^([\w.-]+)==", dev, re.MULTILINE)
    assert len(names) == len({*names})


def test_every_group_has_what_it_declares(script):
    lock = (ROOT / LOCK).read_text()
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = {**tables["dependency-groups"], "product": tables["project"]["dependencies"]}

    for group, requirements in declared.items():
        pins = script("environment").requirements_of(group, lock)
        for requirement in requirements:
            if isinstance(requirement, str):
                wanted = Requirement(requirement)
                versions = re.findall(
                    rf"^{canonicalize_name(wanted.name)}==(\S+)", pins, re.MULTILINE
                )
                assert len(versions) == 1
                assert versions[0] in wanted.specifier


def test_a_lock_names_no_package_index(script):
    for path in [EXPORT, *(lock.path for lock in script("lock").LOCKS)]:
        assert "://" not in (ROOT / path).read_text()


def test_a_group_that_is_not_there_is_refused_with_those_that_are(script):
    lock = "# [one]\na==1\n\n# [two] extends [one]\nb==2\n"

    with pytest.raises(SystemExit, match="no group three, only one, two"):
        script("environment").requirements_of("three", lock)


def test_comments_are_no_requirements(script):
    lock = "# head\n\n# [one]\na==1 \\\n    --hash=sha256:0\n    # via b\n\n# [two] extends [one]\nb==2\n"

    wanted = script("environment").requirements_of("two", lock)

    assert wanted == "a==1 \\\n    --hash=sha256:0\nb==2\n"
