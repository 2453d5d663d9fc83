"""Fetch all packages of a repository with the dnf of this machine, as `dnf download` does."""

import subprocess
from pathlib import Path

PYTHON = "/usr/bin/python3"
"""Debian's: dnf is no package of the Python index."""
PROGRAM = """
import sys, dnf
url, place = sys.argv[1:]
base = dnf.Base()
conf = base.conf
conf.cachedir, conf.logdir, conf.persistdir, conf.installroot = (place + name for name in ("/cache", "", "/persist", "/root"))
conf.reposdir, conf.pluginpath = [], []
conf.substitutions["releasever"] = "12"
base.repos.add_new_repo("recorded", conf, baseurl=[url])
base.fill_sack(load_system_repo=False)
try:
    base.download_packages(sorted(base.sack.query().available()))
except dnf.exceptions.DownloadError as error:
    sys.exit(str(error))
"""


def is_installed() -> bool:
    """Say whether Debian's packages dnf and python3-dnf are there."""
    tried = subprocess.run([PYTHON, "-c", "import dnf"], capture_output=True, check=False)
    return not tried.returncode


def fetch(url: str, place: Path) -> str:
    """Fetch; give why dnf failed, empty where it did not."""
    done = subprocess.run(
        [PYTHON, "-c", PROGRAM, url, str(place)], capture_output=True, text=True, check=False
    )
    return done.stderr.strip() if done.returncode else ""
