import shlex

import pytest

from campaigns.kinds.base.snippets import INSTALLER_OPTIONS
from campaigns.kinds.registry import all_kinds, driver_of


def texts(kind, family, settings, **parameters):
    return [each.text for each in driver_of(kind).snippets(family, settings, parameters)]


def test_a_pulp_takes_the_options_of_its_command_line():
    assert texts("sync", "pulp", {"download_concurrency": 20}, content="file/file") == [
        "pulp file remote update --name REMOTE --download-concurrency 20"
    ]
    (several,) = texts("sync", "pulp", {"policy": "on_demand", "rate_limit": 5}, content="rpm/rpm")
    assert shlex.split(several.replace("\\\n", "")) == [
        "pulp", "rpm", "remote", "update", "--name", "REMOTE", "--policy", "on_demand",
        "--rate-limit", "5",
    ]  # fmt: skip


def test_nothing_is_guessed_of_a_plug_in_that_was_not_looked_up():
    assert texts("sync", "pulp", {"download_concurrency": 20}, content="python/python") == []
    assert texts("sync", "pulp", {"feed": "x"}, content="file/file") == []
    assert texts("downloader", "http", {"concurrency": 20}) == []


def test_a_katello_takes_hammer_and_the_installer():
    found = driver_of("sync").snippets(
        "katello", {"download_concurrency": 5, "puma_workers": 8}, {}
    )

    assert [each.tool for each in found] == ["hammer", "foreman-installer"]
    assert found[0].text == "hammer repository update --id REPOSITORY_ID --download-concurrency 5"
    assert found[1].names == ("puma_workers",)


def test_threads_of_puma_are_set_from_both_ends():
    (text,) = texts("registration", "katello", {"puma_threads": 16})

    assert shlex.split(text.replace("\\\n", ""))[1:] == [
        "--foreman-foreman-service-puma-threads-min", "16",
        "--foreman-foreman-service-puma-threads-max", "16",
    ]  # fmt: skip


def test_least_threads_that_are_given_apart_stay_apart():
    (text,) = texts("registration", "katello", {"puma_threads_min": 0, "puma_threads": 16})

    assert shlex.split(text.replace("\\\n", ""))[1:] == [
        "--foreman-foreman-service-puma-threads-min", "0",
        "--foreman-foreman-service-puma-threads-max", "16",
    ]  # fmt: skip


def test_a_candlepin_has_no_installer():
    assert texts("registration", "candlepin", dict.fromkeys(INSTALLER_OPTIONS, 1)) == []


@pytest.mark.parametrize("kind", sorted(all_kinds()))
def test_every_snippet_names_its_source_and_quotes_its_values(kind):
    driver = driver_of(kind)
    settings = dict.fromkeys([*driver.parameters.base_fields, *INSTALLER_OPTIONS], "a; rm -rf $X")
    for family in driver.families:
        for each in driver.snippets(family, settings, {"content": "file/file"}):
            assert each.source
            assert "a; rm -rf $X" in shlex.split(each.text.replace("\\\n", ""))
