"""A real dnf downloads from the simulated Katello, with the certificate of a host."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.katello.process import SimulatedKatello
from sandbox.tests.katello.conftest import Registered
from sandbox.tests.katello.test_delivery import BASE, packages

DNF = shutil.which("dnf")
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(
        not DNF or bool(subprocess.call([DNF, "-q", "download", "--help"], stdout=-3, stderr=-3)),
        reason="dnf, or its plug-in `download` of dnf-plugins-core, is not installed",
    ),
]


def downloaded(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    """Download packages of the repository that a folder describes."""
    places = {name: str(folder) for name in ("reposdir", "cachedir", "persistdir", "logdir")}
    options = [f"--setopt={name}={value}" for name, value in places.items()]
    return subprocess.run(
        [str(DNF), "-q", "-y", *options, "--releasever=1", "--disablerepo=*", "--enablerepo=bench",
         "download", f"--downloaddir={folder}", *names],
        capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip


@pytest.fixture
def described(
    server: SimulatedKatello, register: Callable[..., Registered], tmp_path: Path
) -> Callable[[str], Path]:
    """Let a folder describe a repository, which is reached with the certificate of a registered host."""
    identity = register().consumer["idCert"]

    def describe(name: str) -> Path:
        files = {"ca": server.ca(), "cert": identity["cert"], "key": identity["key"]}
        for file, text in files.items():
            (tmp_path / f"{file}.pem").write_text(text)
        (tmp_path / "bench.repo").write_text(
            f"[bench]\nname=bench\nenabled=1\ngpgcheck=0\nbaseurl={server.tls_url}{BASE}/{name}/\n"
            f"sslcacert={tmp_path}/ca.pem\nsslclientcert={tmp_path}/cert.pem\n"
            f"sslclientkey={tmp_path}/key.pem\n"
        )
        return tmp_path

    return describe


@pytest.mark.parametrize("name", ["files20k", "files20k_on_demand"])
def test_dnf_downloads_packages_and_finds_them_right(
    server: SimulatedKatello, described: Callable[[str], Path], name: str
) -> None:
    server.behave(content_guard=True, client_certificates="required")
    folder = described(name)
    server.reset_counts()

    done = downloaded(folder, "sandbox-0000*")

    assert done.returncode == 0, done.stderr
    counts = server.told()["content"]["all"]
    assert (counts["requests"], counts["statuses"]) == (103, {"200": 103})
    server.behave(content_guard=False)
    for path, digest, _ in packages(server, f"{BASE}/{name}/")[:100]:
        body = (folder / Path(path).name).read_bytes()
        assert hashlib.sha256(body).hexdigest() == digest


def test_dnf_finds_a_corrupt_package(
    server: SimulatedKatello, described: Callable[[str], Path]
) -> None:
    server.behave(content_faults="corrupt=1")

    folder = described("bench")

    done = downloaded(folder, "sandbox-000000")

    assert done.returncode != 0
    assert "checksum doesn't match" in (folder / "dnf.librepo.log").read_text()
