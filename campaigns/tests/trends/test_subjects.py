"""What the targets of each kind tell the versions of, read from their facts."""

import pytest

from campaigns.kinds.registry import all_kinds

KATELLO = {"Katello": "4.15.0.rc2", "Foreman": "3.13.0", "services": "candlepin ok"}
TOLD = [
    ("sync", {"Pulp": "file 3.1.0, core 3.123.1, rpm 3.29.0"}, ["core 3.123.1 pypi", "file 3.1.0 pypi", "rpm 3.29.0 pypi"]),
    ("sync", KATELLO, ["katello 4.15.0.rc2 gem", "foreman 3.13.0 semver"]),
    ("sync", {"Pulp": "core 3.123.1, simulated 1.0"}, ["core 3.123.1 pypi"]),
    ("content_delivery", {"Pulp": "core 3.123.1"}, ["core 3.123.1 pypi"]),
    ("foreman_task", KATELLO, ["katello 4.15.0.rc2 gem", "foreman 3.13.0 semver"]),
    ("remote_execution", KATELLO, ["katello 4.15.0.rc2 gem", "foreman 3.13.0 semver"]),
    ("registration", {"Candlepin": "4.4.11-1", "mode": "NORMAL"}, ["candlepin 4.4.11-1 rpm"]),
    ("registration", {"Katello": "not told", "Foreman": "3.13.0"}, ["foreman 3.13.0 semver"]),
    ("sql", {"database": "PostgreSQL 17.1 (Debian 17.1-1) on x86_64, 64-bit"}, ["postgresql 17.1 pypi"]),
    ("sql", {"database": "CockroachDB CCL v24"}, []),
    ("http", {"server": "nginx/1.25.3 (Ubuntu)"}, ["nginx 1.25.3 semver"]),
    ("http", {"server": "Apache"}, []),
    ("external", {"version": "1.2.0", "host": "a"}, ["version 1.2.0 pypi"]),
    ("external", {}, []),
    ("downloader", {"server": "x/1.0"}, []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "facts", "told"), TOLD, ids=[f"{i}-{k}" for i, (k, *_) in enumerate(TOLD)]
)
def test_a_kind_tells_versions_by_its_facts(kind, facts, told):
    found = all_kinds()[kind].subjects(facts)

    assert [f"{each.name} {each.version} {each.scheme}" for each in found] == told
    assert all(each.fact in facts for each in found)


@pytest.mark.parametrize(
    ("workers", "torn"),
    [({}, False), ({"versions of workers": "those of the API"}, False), ({"versions of workers": "not told"}, False),
     ({"versions of workers": "core 3.122.0"}, True)],
    ids=["old", "alike", "untold", "others"],
)  # fmt: skip
def test_a_pulp_is_torn_where_its_workers_have_other_versions(workers, torn):
    assert all_kinds()["sync"].is_torn({"Pulp": "core 3.123.1", **workers}) is torn
