import pytest
from django.core.management import CommandError

from campaigns.models import Target
from campaigns.results.importing.simulated_katello import KATELLO
from campaigns.targets.saving import as_driver_sees_it, retire_target, save_target
from sandbox.katello.authority import Authority
from sandbox.katello.machine import NO_PROFILE, PROFILES
from sandbox.process import running

pytestmark = pytest.mark.django_db

URL = "https://127.0.0.1:8399"


@pytest.fixture(autouse=True)
def _owner_confirms(settings):
    settings.OWNER_CONFIRMS = True


@pytest.fixture
def ca(tmp_path):
    path = tmp_path / "ca.pem"
    Authority.kept(path)
    return path


@pytest.fixture
def prepare(manage, ca):
    return lambda url=URL, ca=ca: manage("prepare", "--katello-url", url, "--katello-ca", str(ca))


def target() -> Target:
    return Target.objects.get(name=KATELLO)


def test_the_simulator_becomes_a_target_whose_ca_is_trusted(prepare, ca):
    assert f"Made the target {KATELLO} at {URL}." in prepare()

    seen = as_driver_sees_it(target())
    assert (seen.family, seen.base_url) == ("katello", URL)
    assert (seen.username, seen.password) == ("admin", "password")
    assert seen.tls.verify
    assert seen.tls.ca_bundle.split() == Authority.kept(ca).pem.split()
    assert "PRIVATE KEY" not in seen.tls.ca_bundle


def test_its_settings_can_be_factors_of_campaigns(prepare):
    prepare()

    assert list(target().setting_rows.values_list("name", flat=True)) == [
        *("puma_workers", "puma_threads", "puma_threads_min", "db_pool", "httpd_limit"),
        *("dynflow_workers", "dynflow_threads", "cpus", "memory_gib"),
        *("proxy_cpus", "proxy_memory_gib", "proxy_timeout"),
        *("proxy_httpd_limit", "content_workers"),
        *("mqtt_rate_limit", "mqtt_resend_interval", "mqtt_ttl", "installer_profile"),
    ]
    assert target().setting_rows.get(name="installer_profile").choices == [NO_PROFILE, *PROFILES]
    assert target().setting_rows.get(name="puma_workers").apply == {
        "way": "http",
        "method": "PUT",
        "url": "/simulator/settings/puma_workers",
        "body": {"value": "{value}"},
        "seconds": 60.0,
    }


def test_its_machine_and_its_puma_are_watched(prepare):
    prepare()

    assert list(target().watches.values_list("source", "address")) == [
        ("node_exporter", f"{URL}/metrics"),
        ("process_exporter", f"{URL}/metrics"),
        ("puma", f"{URL}/stats"),
    ]


def test_a_second_call_changes_nothing(prepare):
    prepare()

    assert prepare() == ""


def test_the_target_follows_the_simulator_to_another_port_and_another_ca(prepare, tmp_path):
    prepare()
    Target.objects.update(max_concurrency=40, notes="mine")
    target().watches.filter(source="puma").update(is_on=False)
    other = tmp_path / "other.pem"
    Authority.kept(other)

    said = prepare("https://127.0.0.1:9443", other)

    assert "is at https://127.0.0.1:9443 now" in said
    assert target().ca_bundle.split() == Authority.kept(other).pem.split()
    assert (target().max_concurrency, target().notes) == (40, "mine")
    assert list(target().watches.values_list("address", "is_on")) == [
        ("https://127.0.0.1:9443/metrics", True),
        ("https://127.0.0.1:9443/metrics", True),
        ("https://127.0.0.1:9443/stats", False),
    ]


def test_an_owner_who_retires_it_is_not_given_it_again(prepare):
    prepare()
    retire_target(target())

    assert prepare() == ""


def test_a_server_that_somebody_gave_its_name_is_left_alone(prepare):
    save_target(
        {
            "name": KATELLO, "family": "katello", "base_url": "https://127.0.0.1:7443",
            "username": "jane", "password": "word", "confirm_address": True,
        }
    )  # fmt: skip

    assert KATELLO not in prepare()
    assert target().base_url == "https://127.0.0.1:7443"


def test_it_is_not_made_without_a_ca(manage, tmp_path):
    with pytest.raises(CommandError, match="needs --katello-ca"):
        manage("prepare", "--katello-url", URL)
    with pytest.raises(CommandError, match=r"none\.pem cannot be read"):
        manage("prepare", "--katello-url", URL, "--katello-ca", str(tmp_path / "none.pem"))


@pytest.mark.system
def test_the_certificate_of_the_ca_is_read_from_a_simulator_in_another_container(manage, tmp_path):
    with running(katello={}) as sandbox:
        katello = sandbox.katello
        place = f"{katello.base_url}/simulator/ca"
        manage("prepare", "--katello-url", katello.tls_url, "--katello-ca", place)

    assert "BEGIN CERTIFICATE" in Target.objects.get(name=KATELLO).ca_bundle
