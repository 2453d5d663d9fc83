"""One version: of the server, its command line and the newest entry of the changelog."""

import re
import tomllib

from django.conf import settings

import perfdash
from perfdash_client import __version__ as of_the_client


def test_server_and_client_have_the_version_of_the_newest_release_in_the_changelog():
    changelog = (settings.BASE_DIR / "CHANGELOG.md").read_text()
    released = re.search(r"^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$", changelog, re.MULTILINE)

    assert released is not None
    assert perfdash.__version__ == of_the_client == released[1]


def test_no_project_file_repeats_it():
    for path in ("pyproject.toml", "client/pyproject.toml"):
        project = tomllib.loads((settings.BASE_DIR / path).read_text())["project"]
        assert project["dynamic"] == ["version"]


def test_the_footer_names_it(admin_client):
    for path in ("/", "/no/such/page/"):
        assert f"perfdash {perfdash.__version__}</span>" in admin_client.get(path).content.decode()
