"""docker-compose.yml limits each service, and gives it the secrets that it needs as files."""

import subprocess
from pathlib import Path

import pytest
import yaml
from django.conf import settings

WORKER = {"database_url", "broker_url"}
DECRYPTING = {*WORKER, "encryption_keys"}
SECRETS = {
    "web": DECRYPTING | {"secret_key", "email_url", "oidc_client_secret", "metrics_token"},
    "worker-control": DECRYPTING | {"secret_key", "email_url"},
    "worker-measure": WORKER,
    "worker-generate": WORKER,
    "worker-analysis": WORKER,
    "migrate": DECRYPTING | {"secret_key"},
    "worker-programs": set(),
    "beat": {"broker_url"},
    "sandbox": set(),
    "postgres": {"postgres_password"},
    "redis": {"redis_password"},
}
COMPOSE = yaml.safe_load((settings.BASE_DIR / "docker-compose.yml").read_text())


def test_each_service_has_the_secrets_that_it_needs_and_no_more():
    found = {name: set(service.get("secrets", ())) for name, service in COMPOSE["services"].items()}

    assert found == SECRETS


@pytest.mark.parametrize("name", SECRETS)
def test_a_service_reads_each_of_its_secrets_from_its_file(name):
    variables = COMPOSE["services"][name].get("environment", {})
    read = {value for key, value in variables.items() if key.endswith("_FILE")}
    read.discard(variables.get("PERFDASH_ALIVE_FILE"))
    if name == "redis":
        read = {"/run/secrets/redis_password"}  # its command does

    assert read == {f"/run/secrets/{secret}" for secret in SECRETS[name]}
    assert not {"PASSWORD", "SECRET_KEY", "PERFDASH_ENCRYPTION_KEYS", "DATABASE_URL"} & set(
        variables
    )


@pytest.mark.parametrize("name", SECRETS)
def test_a_service_is_limited_in_memory_and_processes(name):
    service = COMPOSE["services"][name]

    assert service["mem_limit"][-1] in "mg"
    assert 64 <= service["pids_limit"] <= 4096


def test_programs_of_teams_have_no_key_and_no_way_to_database_and_broker():
    programs = COMPOSE["services"]["worker-programs"]

    assert programs["user"] not in ("", "999:999", "0:0")
    assert "environment" not in programs
    assert programs["init"] is False
    assert programs["networks"] == ["programs"]
    inside = {
        name
        for name, service in COMPOSE["services"].items()
        if "programs" in service.get("networks", ())
    }
    assert inside == {"worker-programs", "worker-measure", "sandbox"}
    assert "work:/srv/work" not in programs["volumes"]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "script").mkdir()
    script = tmp_path / "script/compose-secrets"
    script.write_text((settings.BASE_DIR / "script/compose-secrets").read_text())
    script.chmod(0o755)
    return tmp_path


def make(place: Path) -> dict[str, str]:
    subprocess.run([place / "script/compose-secrets"], check=True)
    return {path.name: path.read_text() for path in (place / "secrets").iterdir()}


@pytest.mark.system
def test_every_secret_is_made_once_in_a_directory_of_its_owner(place):
    first = make(place)

    assert make(place) == first
    assert set(first) == set(COMPOSE["secrets"])
    assert (place / "secrets").stat().st_mode & 0o077 == 0
    assert {path.stat().st_mode & 0o777 for path in (place / "secrets").iterdir()} == {0o444}
    assert first["postgres_password"].strip() in first["database_url"]
    assert first["redis_password"].strip() in first["broker_url"]


@pytest.mark.system
def test_secrets_of_an_earlier_version_are_taken_over(place):
    (place / ".env").write_text(
        "POSTGRES_PASSWORD=older\nREDIS_PASSWORD=old\nSECRET_KEY=signs\n"
        "PERFDASH_ENCRYPTION_KEYS=new,old\nPERFDASH_METRICS_TOKEN=scrapes\n"
    )

    made = make(place)

    assert (
        made
        | {
            "postgres_password": "older\n",
            "database_url": "postgresql://perfdash:older@postgres:5432/perfdash\n",
            "broker_url": "redis://:old@redis:6379/0\n",
            "secret_key": "signs\n",
            "encryption_keys": "new,old\n",
            "metrics_token": "scrapes\n",
        }
        == made
    )
