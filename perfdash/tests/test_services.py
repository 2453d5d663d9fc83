"""What each process of a local start gets of its surroundings: what it needs, and no secret beside that."""

from pathlib import Path

import pytest

from perfdash.local import services

PORTS = services.Ports(web=1, sandbox=2, pulp=3, katello=4, katello_tls=5)
SECRETS = {
    "DATABASE_URL", "BROKER_URL", "SECRET_KEY", "PERFDASH_ENCRYPTION_KEYS", "PERFDASH_EMAIL_URL",
    "PERFDASH_OIDC_CLIENT_SECRET_FILE", "PERFDASH_METRICS_TOKEN", "AWS_SECRET_ACCESS_KEY",
}  # fmt: skip
SURROUNDINGS = {"PATH", "PYTHONPATH", "TMPDIR"}
OF_WORKERS = SECRETS - {
    "PERFDASH_EMAIL_URL", "PERFDASH_OIDC_CLIENT_SECRET_FILE", "PERFDASH_METRICS_TOKEN",
    "PERFDASH_ENCRYPTION_KEYS",
}  # fmt: skip


@pytest.fixture
def given():
    variables = dict.fromkeys(SECRETS | SURROUNDINGS | {"LEASE_SECONDS"}, "x")
    web = services.web(variables, PORTS, lambda: True)
    forkserver, _ = services.forkserver(variables)
    described = [web, forkserver, *services.others(variables, PORTS, Path("/ca"))]
    return {service.name: set(service.environment) for service in described}


@pytest.mark.parametrize(
    ("service", "secrets"),
    [
        ("web", SECRETS),
        ("control", OF_WORKERS | {"PERFDASH_EMAIL_URL", "PERFDASH_ENCRYPTION_KEYS"}),
        ("analysis", OF_WORKERS),
        ("measure", OF_WORKERS),
        ("forkserver", OF_WORKERS),
        ("generate", OF_WORKERS),
        ("beat", {"BROKER_URL", "AWS_SECRET_ACCESS_KEY"}),
        ("sandbox", set()),
    ],
)
def test_a_service_gets_the_secrets_that_it_needs_and_no_more(given, service, secrets):
    assert given[service] & SECRETS == secrets
    assert given[service] >= SURROUNDINGS


def test_every_service_is_looked_at(given):
    workers = {"control", "analysis", "measure", "generate"}
    assert set(given) == workers | {"web", "forkserver", "beat", "sandbox"}


def test_the_sandbox_gets_no_setting(given):
    assert given["sandbox"] == SURROUNDINGS
