"""The parameters of the kind, and what is refused at its field."""

import pytest

from campaigns.kinds.content_delivery.driver import driver
from campaigns.kinds.content_delivery.form import packages_planned
from campaigns.kinds.content_delivery.reading import directory_of
from campaigns.results.importing.simulated_katello import SETTINGS
from campaigns.tests.kinds.content_delivery.parameters import errors_of, parameters_of

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ({"repository": ""}, "repository", "required"),
        ({"repository": "a/../b/"}, "repository", "without `..`"),
        ({"repository": "https://mirrors.example/mirrorlist"}, "repository", "list of mirrors"),
        ({"repository": "fedora.metalink"}, "repository", "list of mirrors"),
        ({"repository": "repo/?x=1"}, "repository", "plain path"),
        ({"identity": "own"}, "population", "give its number"),
        ({"population": 3}, "population", "leave it empty, or choose own"),
        ({"hosts": 20_000, "parallel": 3}, "parallel", "60,000 connections at a time, and 28,232 local ports"),
        ({"packages": -1}, "packages", "greater than or equal to 0"),
        ({"rounds": 3}, "rounds", "less than or equal to 2"),
        ({"retries": "11"}, "retries", "11"),
        ({"profile": "dnf-5"}, "profile", "dnf-5"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)  # fmt: skip
def test_what_cannot_be_run_is_refused_at_its_field(given, field, words):
    assert words in errors_of(**given).get(field, "")


def test_more_generators_have_more_ports():
    assert "parallel" not in errors_of(hosts=20_000, parallel=3, generators=3)


@pytest.mark.parametrize(
    ("family", "given", "field"),
    [
        ("http", {"content_state": "cold"}, "content_state"),
        ("http", {"identity": "own", "population": 1}, "identity"),
        ("pulp", {"identity": "own", "population": 1}, "identity"),
        ("pulp", {"repository_id": 3}, "repository_id"),
        ("katello", {"content_state": "cold"}, "repository_id"),
        ("katello", {"content_state": "cold", "proxy_id": 2}, ""),
        ("katello", {"identity": "own", "population": 1}, ""),
        ("pulp", {"content_state": "warm"}, ""),
    ],
)
def test_what_does_not_fit_a_family_is_told_at_its_field(family, given, field):
    parameters = parameters_of(repository="repo/", **given)

    found = driver.misfits(family, parameters, {})

    assert list(found) == ([field] if field else [])


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("pub/el9.2", "http://x/pub/el9.2/"),
        ("pub/el9/", "http://x/pub/el9/"),
        ("files/PULP_MANIFEST", "http://x/files/PULP_MANIFEST"),
        ("files/paths.txt", "http://x/files/paths.txt"),
        ("http://x/pub", "http://x/pub/"),
    ],
)
def test_a_repository_is_a_directory_unless_it_is_a_manifest_or_a_list(written, url):
    parameters = parameters_of(repository=written)

    assert driver.urls("http://x/", parameters) == {"repository": url}
    assert directory_of(url) == url


def test_hosts_are_the_load_and_the_address_may_differ():
    assert driver.load == ("hosts",)
    assert driver.addresses == ("repository",)
    assert driver.time_limit == "no_data_seconds"
    assert {"packages", "order", "profile", "identity", "content_state"} <= set(driver.work)
    assert {"verify", "generators", "processes"} <= set(driver.instruments)
    assert driver.role("parallel") == "setting"


def test_packages_are_the_units_that_may_fail():
    parameters = parameters_of(repository="repo/", hosts=7, packages=20, rounds=2)

    assert driver.units(parameters) == packages_planned(parameters) == 280
    assert driver.units(parameters_of(repository="repo/", packages=0)) is None
    assert driver.concurrency(parameters) == 21


@pytest.mark.parametrize(
    "preset", driver.presets("http://sandbox/"), ids=lambda preset: preset.name
)
def test_presets_fit_the_form(preset):
    own = driver.parameters.base_fields
    assert preset.names <= {*own, *SETTINGS}
    levels = {name: values[0] for name, values in preset.factors.items()}

    assert errors_of(**{**preset.parameters, **levels}).keys() <= {"population"}


def test_the_published_question_needs_two_clicks():
    preset = next(each for each in driver.presets("") if each.name == "carries")

    assert preset.factors == {"hosts": ("100", "200", "400", "700", "1000")}
    assert preset.values["criterion"] == {
        "conditions": [{"metric": "package_time_p95", "at_most": 10}],
        "failed_percent": 5,
    }


def test_a_server_and_a_proxy_of_one_size_are_compared_where_they_are_simulated():
    presets = {each.name: each for each in driver.presets("http://sandbox/")}

    server, proxy = map(dict, presets["server-or-proxy"].configurations.values())
    assert (server.pop("proxy_cpus"), proxy.pop("proxy_cpus")) == ("0", "8")
    assert server == proxy
    assert "server-or-proxy" not in {each.name for each in driver.presets("")}


def test_what_one_host_does_can_be_done_by_hand():
    (snippet,) = driver.snippets("pulp", {"parallel": 5}, {})

    assert snippet.text == "curl --parallel --remote-name-all URLS --parallel-max 5"
