"""What the form offers for downloads: definitions as they are, the published sizes, and servers without a sandbox."""

from math import prod

import pytest

from campaigns.kinds.downloader.driver import driver
from campaigns.kinds.registry import all_kinds
from campaigns.planning.checking import check
from campaigns.planning.preview import preview
from campaigns.tests.browsing import Page, browser, person
from campaigns.tests.toy import target, toy
from sandbox.grammar import pairs, read, split

__all__ = ["browser", "person", "target", "toy"]

URL = "http://127.0.0.1:8099"
GIGABYTES = 5.943847


@pytest.mark.django_db
@pytest.mark.parametrize("preset", driver.presets(URL), ids=lambda preset: preset.name)
def test_a_preset_is_a_definition(preset, target):
    data = {
        "kind": "downloader",
        "target": target.pk,
        "parameters": dict(preset.parameters),
        "factors": {name: list(levels) for name, levels in preset.factors.items()},
        **preset.values,
    }

    planned = preview(check(data))

    levels = [len(each) for each in preset.factors.values()]
    assert planned.measured_runs == prod(levels) * preset.values["repetitions"]


@pytest.mark.parametrize(("name", "part"), [("published", 1), ("tenth", 10)])
def test_the_published_repositories_have_their_files_and_bytes(name, part):
    (preset,) = [each for each in driver.presets(URL) if each.name == name]

    written = [pairs(split(path.split("/")[1:])[0]) for path in preset.factors["manifest"]]

    for each in written:
        read(each)  # raises where the sandbox has no such repository
    assert [dict(each)["files"] for each in written] == ["100", "200", "300", "400", "500"]
    total = sum(int(dict(each)["total"]) for each in written)
    assert total == pytest.approx(GIGABYTES * 1e9 / part, rel=1e-6)


@pytest.mark.django_db
def test_presets_for_servers_of_ones_own_need_no_sandbox(browser, settings):
    settings.SANDBOX_URL = ""

    page = Page(browser.get("/campaigns/new/", {"kind": "downloader"}))

    values = {str(each["value"]) for each in page.named("act")}
    assert {"preset:file-server", "preset:pulp", "preset:concurrency"} <= values
    assert "preset:published" not in values
    assert all_kinds()["http"].presets("") == ()
