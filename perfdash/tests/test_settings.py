import json
import os
import subprocess
import sys

import pytest
from cryptography.fernet import Fernet

pytestmark = pytest.mark.system

KEYS = [Fernet.generate_key().decode() for _ in range(2)]
NEEDED = {
    "DATABASE_URL": "postgresql://perfdash@127.0.0.1:1/perfdash",
    "BROKER_URL": "redis://127.0.0.1:1/0",
    "SECRET_KEY": "a key for this test only",
    "PERFDASH_ENCRYPTION_KEYS": ",".join(KEYS),
}
SHOW = """
import json
from django.conf import settings
names = ("DEBUG", "ALLOWED_ADDRESSES", "OWNER_CONFIRMS", "OWN_ADDRESSES", "ENCRYPTION_KEYS",
         "SESSION_COOKIE_SECURE", "SECURE_SSL_REDIRECT", "SECURE_HSTS_SECONDS", "LEASE_SECONDS")
print(json.dumps({name: getattr(settings, name) for name in names}))
"""


def run(code, **variables):
    environment = {"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "perfdash.settings"}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment | variables,
        capture_output=True,
        text=True,
    )


def test_nothing_is_open_unless_somebody_says_so():
    shown = json.loads(run(SHOW, **NEEDED).stdout)

    assert shown["DEBUG"] is False
    assert shown["ALLOWED_ADDRESSES"] == ""
    assert shown["OWNER_CONFIRMS"] is False


def test_keys_keep_their_order():
    assert json.loads(run(SHOW, **NEEDED).stdout)["ENCRYPTION_KEYS"] == KEYS


@pytest.mark.parametrize(
    "broken",
    ["b2xkZXI=", "x" * 43, f"{KEYS[1]}{KEYS[1]}", "'quoted'"],
    ids=["short", "no base64", "two in one", "quoted"],
)
def test_a_broken_key_stops_the_start_and_is_not_quoted(broken):
    ended = run(SHOW, **{**NEEDED, "PERFDASH_ENCRYPTION_KEYS": f"{KEYS[0]},{broken}"})

    assert ended.returncode == 1
    assert "PERFDASH_ENCRYPTION_KEYS: key 2 of 2 is no Fernet key" in ended.stderr
    assert broken not in ended.stderr
    assert KEYS[0] not in ended.stderr


def test_https_brings_secure_cookies_redirection_and_hsts():
    shown = json.loads(run(SHOW, **NEEDED, PERFDASH_BASE_URL="https://perf.example").stdout)

    assert shown["SESSION_COOKIE_SECURE"] is True
    assert shown["SECURE_SSL_REDIRECT"] is True
    assert shown["SECURE_HSTS_SECONDS"] > 0
    assert ["perf.example", 443] in shown["OWN_ADDRESSES"]


def test_lease_times_can_be_set():
    times = {"LEASE_SECONDS": "22.5", "LEASE_MARGIN_SECONDS": "5"}

    assert json.loads(run(SHOW, **NEEDED, **times).stdout)["LEASE_SECONDS"] == 22.5


@pytest.mark.parametrize(
    ("times", "told"),
    [
        (
            {"LEASE_SECONDS": "10"},
            "LEASE_MARGIN_SECONDS (10) and RENEW_SECONDS (5) must together be less than "
            "LEASE_SECONDS (10); ",
        ),
        (
            {"DISPATCH_SECONDS": "12"},
            "RENEW_SECONDS (5) and three times DISPATCH_SECONDS (12) must together be less than "
            "LEASE_SECONDS (30) and LEASE_GRACE_SECONDS (10); ",
        ),
    ],
)
def test_leases_that_no_keeper_could_keep_stop_the_start(times, told):
    ended = run(SHOW, **NEEDED, **times)

    assert ended.returncode == 1
    assert told in ended.stderr


def test_messages_outlast_clocks_that_differ_by_minutes():
    code = """
from django.conf import settings
print([entry["options"]["expires"] for entry in settings.CELERY_BEAT_SCHEDULE.values()])
"""
    assert json.loads(run(code, **NEEDED, PROBE_SECONDS="700").stdout) == [300, 700, 300, 300, 600]


@pytest.mark.parametrize("missing", sorted(NEEDED))
def test_the_web_server_does_not_start_without(missing):
    variables = {name: value for name, value in NEEDED.items() if name != missing}

    done = run("import perfdash.wsgi", **variables)

    assert done.returncode != 0
    assert f"Not set: {missing}." in done.stderr


def test_a_wrong_value_stops_the_start():
    done = run(SHOW, **NEEDED, PERFDASH_OWNER_CONFIRMS="yes")

    assert done.returncode != 0
    assert "PERFDASH_OWNER_CONFIRMS is 'yes'" in done.stderr


PRODUCTION = NEEDED | {
    "SECRET_KEY": "".join(chr(97 + number % 26) for number in range(60)),
    "PERFDASH_BASE_URL": "https://perf.example",
    "ALLOWED_HOSTS": "perf.example",
    "PERFDASH_BEHIND_PROXY": "True",
    "PERFDASH_HSTS_SECONDS": "31536000",
    "PERFDASH_HSTS_SUBDOMAINS": "True",
    "PERFDASH_HSTS_PRELOAD": "True",
}


@pytest.mark.slow
def test_production_settings_pass_the_checks_of_a_deployment():
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        env={"PATH": os.environ["PATH"]} | PRODUCTION,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


@pytest.mark.parametrize("wrong", ["yaml", "JSON"])
def test_a_log_format_is_one_of_two(wrong):
    done = run(SHOW, **NEEDED, LOG_FORMAT=wrong)

    assert f"LOG_FORMAT is '{wrong}'; write line or json." in done.stderr


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("300/s", [300, 1]),
        ("6000/min", [6000, 60]),
        ("1000/h", [1000, 3600]),
        ("off", None),
        ("", [6000, 60]),
    ],
)
def test_a_rate_is_so_many_in_so_long(written, read):
    code = "import json; from django.conf import settings; print(json.dumps(settings.API_RATES))"

    shown = json.loads(run(code, **NEEDED, PERFDASH_API_READ_RATE=written).stdout)

    assert shown["read"] == read


@pytest.mark.parametrize("broken", ["0/s", "5", "1.5/s", "5/day", "-1/s", "s/5", "none"])
def test_a_rate_that_nobody_understands_stops_the_start(broken):
    ended = run(
        "from django.conf import settings; settings.API_RATES",
        **NEEDED,
        PERFDASH_API_WRITE_RATE=broken,
    )

    assert ended.returncode == 1
    assert f"PERFDASH_API_WRITE_RATE is {broken!r}; write 300/s" in ended.stderr


def test_the_web_server_is_loaded_without_a_word_of_where_its_settings_are():
    """As the image, the units of systemd and Kubernetes start it."""
    done = subprocess.run(
        [sys.executable, "-c", "from perfdash.server import server; print(type(server).__name__)"],
        env={"PATH": os.environ["PATH"], **NEEDED},
        capture_output=True,
        text=True,
    )

    assert done.stdout == "Receiver\n", done.stderr
