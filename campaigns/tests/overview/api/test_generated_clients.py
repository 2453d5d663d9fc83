"""Clients that other people's generators make of the OpenAPI document: whole, and they work.

The generators are installed into an environment of their own, below pytest's cache.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from campaigns.kit.api.openapi import document
from campaigns.overview.api import documents

ROOT = Path(__file__).parents[4]
GENERATORS = Path(__file__).with_name("generators.lock")
HYPERFINE = Path(__file__).parents[2] / "results" / "readers" / "data" / "hyperfine-1.20.json"
TYPES_TOLD = """
content_type_overrides:
  application/zip: application/octet-stream
  application/yaml: text/yaml
post_hooks: []
"""
"""openapi-python-client has to be told how to read types of content that it does not know."""
OF_THE_GENERATOR = ("OpenAPI 3.1 support is still in beta", "Failed to get the schema name: null")
"""What openapi-generator warns of in any document of 3.1 that has a schema without a name."""
OPENAPI_PYTHON_CLIENT = """
import sys
from io import BytesIO
from made import AuthenticatedClient
from made.api.account import get_whoami
from made.api.submissions import import_file
from made.models import ImportFileFidelity
from made.types import File

url, token, path = sys.argv[1:]
client = AuthenticatedClient(url, token, raise_on_unexpected_status=True)
me = get_whoami.sync(client=client)
read = import_file.sync(
    client=client,
    body=File(BytesIO(open(path, "rb").read())),
    dry_run=True,
    fidelity=ImportFileFidelity.RAW,
)
print(me.user, read.dry_run, read.runs)
"""
OPENAPI_GENERATOR = """
import sys
from made import AccountApi, ApiClient, Configuration, SubmissionsApi

url, token, path = sys.argv[1:]
client = ApiClient(Configuration(host=url, access_token=token))
me = AccountApi(client).get_whoami()
read = SubmissionsApi(client).import_file(
    body=open(path, "rb").read(), dry_run=True, fidelity="raw"
)
print(me.user, read.dry_run, read.runs)
"""

pytestmark = [pytest.mark.system, pytest.mark.timeout(900)]


def started(*arguments, cwd):
    done = subprocess.run(
        list(map(str, arguments)), cwd=cwd, capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-4000:]
    return said


@pytest.fixture(scope="session")
def programs(pytestconfig):
    """The directory with the generators' programs, which the first run installs."""
    place = pytestconfig.cache.mkdir("generators")
    done = subprocess.run(
        [sys.executable, ROOT / "script" / "environment.py", "generators", GENERATORS],
        env=os.environ | {"PERFDASH_VENV": str(place)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return place / "bin"


@pytest.fixture
def told(tmp_path):
    path = tmp_path / "openapi.json"
    path.write_bytes(documents.as_json())
    return path


@pytest.fixture
def operations():
    return {each["operationId"] for path in document()["paths"].values() for each in path.values()}


@pytest.mark.django_db(transaction=True)
def test_openapi_python_client_makes_a_whole_one(
    programs, told, operations, tmp_path, live_server, token
):
    settings = tmp_path / "settings.yaml"
    settings.write_text(TYPES_TOLD)
    generate = ("generate", "--path", told, "--output-path", tmp_path / "made", "--meta", "none")

    said = started(
        programs / "openapi-python-client", *generate, "--config", settings, cwd=tmp_path
    )

    assert "WARNING" not in said
    assert {path.stem for path in tmp_path.glob("made/api/*/*.py")} >= operations
    asked = (live_server.url, token, HYPERFINE)
    assert re.fullmatch(
        r"owner True \d+\n",
        started(programs / "python", "-c", OPENAPI_PYTHON_CLIENT, *asked, cwd=tmp_path),
    )


@pytest.mark.django_db(transaction=True)
def test_openapi_generator_makes_a_whole_one(
    programs, told, operations, tmp_path, live_server, token
):
    generate = ("generate", "-i", told, "-g", "python", "-o", tmp_path, "--package-name", "made")

    said = started(programs / "openapi-generator-cli", *generate, cwd=tmp_path)

    warnings = re.findall(r"^.* (?:WARN|ERROR) .*$", said, re.MULTILINE)
    assert not [line for line in warnings if not any(each in line for each in OF_THE_GENERATOR)]
    code = "".join(path.read_text() for path in tmp_path.glob("made/api/*.py"))
    assert set(re.findall(r"def (\w+)\(", code)) >= operations
    asked = (live_server.url, token, HYPERFINE)
    assert re.fullmatch(
        r"owner True \d+\n",
        started(programs / "python", "-c", OPENAPI_GENERATOR, *asked, cwd=tmp_path),
    )
